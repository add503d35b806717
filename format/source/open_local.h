// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>

#include <memory>
#include <string>

#include "tfile/source.h"

namespace tfile {

// How a directory is held, for the paths below it.
inline constexpr int kDirectoryFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

// Opens a file of this machine. Errors: not_found, denied, io, invalid (not a regular file). Blocks.
Result<std::shared_ptr<const Source>> open_local(const std::string& path);

}  // namespace tfile
