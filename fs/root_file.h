// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "reply.h"
#include "tfile/file.h"
#include "tfile/source.h"

namespace tfilefs {

// Opens the file, or the one behind the URL, for a command that reads it without a mount. Errors begin with its name.
// Blocks.
Result<std::shared_ptr<const tfile::File>> open_root_file(const std::string& source, const tfile::RemoteOptions& = {});

}  // namespace tfilefs
