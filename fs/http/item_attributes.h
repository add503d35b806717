// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vfs/file_system.h"

namespace tfilefs {

// Extended attributes: "class" and "TTree" of user.tfilefs.class.
using ItemAttributes = std::vector<std::pair<std::string, std::string>>;

// `all`: also those that a mount finds by their names alone, for which the record of a table is read.
enum class WhichAttributes : std::uint8_t { listed, all };

// Those of a file or directory. Errors: those of FileSystem::all_xattrs. Does not block.
void attributes_of(FileSystem&, InodeId, WhichAttributes, Reply<ItemAttributes>);

}  // namespace tfilefs
