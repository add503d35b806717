// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "http/served_item.h"
#include "reply.h"
#include "vfs/file_system.h"

namespace tfilefs {

// What a listing of a directory shows, sorted by name. `known`: sizes and times that are known at once; `all`: also
// those that take reading, but of links. Errors: also `no_space`, of a directory with more than a million names. Does
// not block.
enum class ItemSizes : std::uint8_t { known, all };
void list_items_of(FileSystem&, InodeId directory, ItemSizes, Reply<std::vector<ServedItem>>);

}  // namespace tfilefs
