// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tfile/table.h"
#include "tree/read/branch_nodes.h"

namespace tfile {

// A table over the streams of an outline, with the results of trials: all nodes and columns, or those of one branch.
// `unread`: columns that the storage fails to deliver.
std::shared_ptr<const Table> whole_table(std::shared_ptr<const Table> outline, BranchNodes all,
                                         std::vector<ColumnId> unread);
std::shared_ptr<const Table> table_below(std::shared_ptr<const Table> outline, BranchNodes below);

}  // namespace tfile
