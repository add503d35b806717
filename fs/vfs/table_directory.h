// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tfile/file.h"
#include "vfs/directory.h"

namespace tfilefs {

class LoadedTable;

// A table's own directory: its nodes, each also found by its name without the type and by ROOT's branch name; hidden,
// the views of each node and .schema.json. A table that cannot be read shows its object.bin instead.
std::shared_ptr<const Directory> make_table_directory(std::shared_ptr<const Generation>,
                                                      std::shared_ptr<const LoadedTable>,
                                                      std::shared_ptr<const tfile::DirectoryListing>,
                                                      std::uint32_t key);

}  // namespace tfilefs
