// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "tfile/file.h"
#include "tfile/node.h"
#include "vfs/directory.h"
#include "vfs/table_holder.h"

namespace tfilefs {

class LoadedTable;
class ObjectFiles;

// A table's own directory: its nodes, each also found by its name without the type and by ROOT's branch name; hidden
// are the views of each node and .schema.json. A table that cannot be read shows its object.bin instead.
std::shared_ptr<const Directory> make_table_directory(std::shared_ptr<const Generation>,
                                                      std::shared_ptr<const LoadedTable>,
                                                      std::shared_ptr<const tfile::DirectoryListing>,
                                                      std::uint32_t key);

// A file beside the table. Errors: unsupported (with ENOENT: a table that cannot be read has none).
Result<Entry> make_table_view(std::shared_ptr<const Generation>, std::shared_ptr<const LoadedTable>,
                              std::shared_ptr<const tfile::DirectoryListing>, std::uint32_t key, ShownAs);

// An object's directory: the nodes of its arrays as those of a table, object.bin and object.json; hidden are the other
// files made of it.
std::shared_ptr<const Directory> make_array_directory(std::shared_ptr<const Generation>,
                                                      std::shared_ptr<const ObjectFiles>,
                                                      std::shared_ptr<const tfile::DirectoryListing>,
                                                      std::uint32_t key);

// The directory of a node that is not a column; node 0 is the table itself.
std::shared_ptr<const Directory> make_node_directory(std::shared_ptr<const NodeHolder>, tfile::NodeId);

}  // namespace tfilefs
