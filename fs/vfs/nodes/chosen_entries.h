// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "cache/cluster_cache.h"
#include "tfile/table.h"
#include "view/friends/friend_streams.h"

namespace tfilefs {

// Entries that an expression chooses, as a table.
struct TableWhere {
  std::shared_ptr<const FriendTable> table;
  std::shared_ptr<FriendStreams> streams;
};

// Reads the columns of the expression, all of them once, with the threads of a scan of their own. `of`: a whole table.
// Errors: invalid (the expression, with the place in it), is_refusal() (the bits of the entries do not fit into half of
// memory=), those of reading.
void choose_entries(ClusterCache&, std::shared_ptr<const tfile::Table> of, std::shared_ptr<CachedStreams>,
                    const std::string& expression, Reply<TableWhere>);

}  // namespace tfilefs
