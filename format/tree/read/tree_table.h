// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/source.h"
#include "tfile/table.h"
#include "tree/read/branch_nodes.h"

namespace tfile {

// The table of a TTree (or a derived class). `payload`: the decompressed payload of its key; `keylen`: the length of
// the key. Opens the other files that store branches. A tree of an unknown version gives a table with a `reason`.
// `warnings`, from reading `infos`, are added to the table's own. Reads no basket. Errors: damaged.
Result<std::shared_ptr<const Table>> open_tree(std::shared_ptr<const Source>, std::span<const std::byte> payload,
                                               std::uint32_t keylen, const std::string& class_name,
                                               std::shared_ptr<const StreamerInfos> infos,
                                               const std::vector<std::string>& warnings);

// A table over the streams of one that is not resolved, with the results of trials: all nodes and columns, or those of
// one branch.
// `unread`: columns that the storage fails to deliver.
std::shared_ptr<const Table> whole_table(std::shared_ptr<const Table> of, BranchNodes all,
                                         std::vector<ColumnId> unread);
std::shared_ptr<const Table> table_below(std::shared_ptr<const Table> of, BranchNodes below);

}  // namespace tfile
