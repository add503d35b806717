// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tfile/table.h"
#include "vfs/nodes/directory.h"

namespace tfilefs {

// user.tfilefs.* of a column (without .length if it is not known) and of a node that is a directory.
Xattrs column_xattrs(const tfile::Node&, const tfile::Column&, std::optional<std::int64_t> length);
Xattrs node_xattrs(const tfile::Node&);

// Those of Vnodes::more_xattrs: of a node, its type in words and `stored`, its bytes in the file; of a whole table.
Xattrs more_node_xattrs(const tfile::Table&, tfile::NodeId, std::uint64_t stored);
Xattrs more_table_xattrs(const tfile::Table&);

// The value of one attribute; and the names of all as listxattr(2) returns them, each followed by a NUL. Error of the
// first: not_found (ENODATA).
Result<std::string> xattr_value(const Xattrs&, std::string_view name);
std::string xattr_names(const Xattrs&);

}  // namespace tfilefs
