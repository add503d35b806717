// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tfile/descriptor.h"
#include "tfile/result.h"

namespace tfile {

// The error of a system call that failed with this errno. `what`: the path, or what was tried.
tl::unexpected<Error> system_error(const std::string& what, int number);

// Opens a path below a directory, never outside of it (openat2(2), RESOLVE_BENEATH), whatever links say; without
// `links` it follows none, and with O_PATH opens the link itself. Where the kernel or a sandbox has no openat2 it
// follows none either way. No descriptor on failure: errno tells.
Descriptor open_beneath(int directory, const std::string& path, int flags, bool links);

}  // namespace tfile
