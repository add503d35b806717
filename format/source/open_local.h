// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "tfile/source.h"

namespace tfile {

// Opens a file of this machine. Errors: not_found, denied, io, invalid (not a regular file). Blocks.
Result<std::shared_ptr<const Source>> open_local(const std::string& path);

}  // namespace tfile
