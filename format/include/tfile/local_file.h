// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <string>

#include "tfile/descriptor.h"
#include "tfile/result.h"

namespace tfile {

// The error for a system call that failed with the errno `number`. `what` is the path or the operation.
tl::unexpected<Error> system_error(const std::string& what, int number);

// Opens a path below a directory and never outside of it, wherever links point (openat2(2), RESOLVE_BENEATH). Without
// `links` it follows no link, and with O_PATH it opens the link itself. If the kernel or a sandbox has no openat2, it
// never follows a link. On failure it returns no descriptor and sets errno.
Descriptor open_beneath(int directory, const std::string& path, int flags, bool links);

}  // namespace tfile
