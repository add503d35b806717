// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>

#include "vfs/directory.h"
#include "vfs/source_tree.h"

namespace tfilefs {

// A directory of a mirrored tree.
std::shared_ptr<const Holder> make_source_directory(std::shared_ptr<SourceTree>, std::string path);

// Anything else that is not a ROOT file, shown unchanged. `status`: as just seen.
std::shared_ptr<const Holder> make_source_file(std::shared_ptr<SourceTree>, std::string path,
                                               const struct stat& status);

}  // namespace tfilefs
