// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "reply.h"
#include "tfile/file.h"

namespace tfilefs {

// Error: invalid, where a source that is not there looks like a URL: only local files are read.
Result<> refuse_url(const std::string& source);

// The file of a command that reads one, without a mount. Errors begin with its name.
Result<std::shared_ptr<const tfile::File>> open_root_file(const std::string& source);

}  // namespace tfilefs
