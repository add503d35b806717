// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "reply.h"
#include "tfile/file.h"

namespace tfilefs {

// Error: invalid, if a source that does not exist looks like a URL: only local files can be read.
Result<> refuse_url(const std::string& source);

// Opens the file or URL for a command that reads it without a mount. Errors begin with its name.
Result<std::shared_ptr<const tfile::File>> open_root_file(const std::string& source);

}  // namespace tfilefs
