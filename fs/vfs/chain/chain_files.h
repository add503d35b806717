// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "vfs/nodes/generation.h"
#include "vfs/nodes/loaded_table.h"

namespace tfilefs {

// A table of an open ROOT file, at any depth of its directories.
struct TablePlace {
  std::shared_ptr<const tfile::DirectoryListing> listing;
  std::uint32_t key = 0;
  std::string path;      // names as the mount shows them, joined by '/'
  std::string original;  // names as they are in the file
};

// All tables of a file, newest cycles only, in its order. Blocks. Errors: those of File::directory.
Result<std::vector<TablePlace>> tables_in(const Generation&);
// The tables with this name in the file, or at this path as the mount shows it: one, or none. Behind the name of one
// cycle may stand ";CYCLE". Blocks. Errors: those of File::directory.
Result<std::vector<TablePlace>> tables_named(const Generation&, const std::string& name);
// The table at a path as the mount shows it. Blocks. Error: not_found.
Result<TablePlace> table_at(const Generation&, const std::string& path);

// A table in which everything is known, of a file in the state that it was opened in.
struct WholeTable {
  GenerationPtr generation;
  std::shared_ptr<const LoadedTable> loaded;
};
void load_whole(GenerationPtr, const TablePlace&, Reply<WholeTable>);

}  // namespace tfilefs
