// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/cluster_cache.h"
#include "query/query.h"
#include "tfile/table.h"
#include "view/friends/friend_streams.h"

namespace tfilefs {

// Entries that a cut chooses, as a table.
struct TableWhere {
  std::shared_ptr<const FriendTable> table;
  std::shared_ptr<FriendStreams> streams;
};

// Reads the columns of the cut (Query::bind_cut()), all of them once, with the threads of a scan of their own. `of`: a
// whole table. Errors: is_refusal() (the bits of the entries do not fit into half of memory=), those of reading.
void choose_entries(ClusterCache&, std::shared_ptr<const tfile::Table> of, std::shared_ptr<CachedStreams>,
                    const Query& cut, Reply<TableWhere>);

}  // namespace tfilefs
