// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tfile/node.h"
#include "vfs/nodes/column_vnodes.h"

namespace tfilefs {

// The directory of a node that is not a column; node 0 is the table itself.
std::shared_ptr<const Directory> make_node_directory(std::shared_ptr<const ColumnVnodes>, tfile::NodeId);

}  // namespace tfilefs
