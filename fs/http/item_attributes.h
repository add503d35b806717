// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vfs/file_system.h"

namespace tfilefs {

// Extended attributes: "class" and "TTree" of user.tfilefs.class.
using ItemAttributes = std::vector<std::pair<std::string, std::string>>;

// All that a file or directory has. Errors: those of FileSystem::listed_xattrs. Does not block.
void attributes_of(FileSystem&, InodeId, Reply<ItemAttributes>);

}  // namespace tfilefs
