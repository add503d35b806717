// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tfile/descriptor.h"
#include "tfile/result.h"

namespace tfile {

// The error for a system call that failed with the errno `number`. `what` is the path or the operation.
tl::unexpected<Error> system_error(const std::string& what, int number);

// Writes all bytes at the offset, in as many calls as it takes. Returns 0, or the errno. Blocks.
int write_all(int fd, std::uint64_t offset, std::span<const std::byte> bytes);
// The same of several parts, one behind the other, at most IOV_MAX. The parts are used up.
int write_all(int fd, std::uint64_t offset, std::span<iovec> parts);

// Reads at the offset into all of `into`, or as much as the file has: returns how much. Error: the errno. Blocks.
tl::expected<std::size_t, int> read_up_to(int fd, std::uint64_t offset, std::span<std::byte> into);

// Opens a path below a directory and never outside of it, wherever links point (openat2(2), RESOLVE_BENEATH). Without
// `links` it follows no link, and with O_PATH it opens the link itself. If the kernel or a sandbox has no openat2, it
// never follows a link. On failure it returns no descriptor and sets errno.
Descriptor open_beneath(int directory, const std::string& path, int flags, bool links);

}  // namespace tfile
