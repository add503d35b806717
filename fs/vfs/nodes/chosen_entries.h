// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/cluster_cache.h"
#include "query/query.h"
#include "tfile/table.h"
#include "view/friends/friend_streams.h"
#include "view/friends/kept_bits.h"

namespace tfilefs {

// Entries that a cut chooses, as a table.
struct TableWhere {
  std::shared_ptr<const FriendTable> table;
  std::shared_ptr<FriendStreams> streams;
  std::shared_ptr<const KeptBits> kept;
};

// A whole table of which entries are chosen.
struct ChoiceOf {
  std::shared_ptr<const tfile::Table> table;
  std::shared_ptr<CachedStreams> streams;
};
// A cut (Query::bind_cut()), and the table that it is bound to: that one, or one of as many entries.
struct ChoiceBy {
  std::shared_ptr<const tfile::Table> table;
  std::shared_ptr<CachedStreams> streams;
  Query cut;
};

// The same entries of another table that has as many as the one that they were chosen of.
TableWhere entries_kept(ClusterCache&, const ChoiceOf&, std::shared_ptr<const KeptBits>);

// Reads the columns of the cut, all of them once, with the threads of a scan of their own. Errors: is_refusal() (the
// bits of the entries do not fit into half of memory=), those of reading.
void choose_entries(ClusterCache&, ChoiceOf, ChoiceBy, Reply<TableWhere>);

}  // namespace tfilefs
