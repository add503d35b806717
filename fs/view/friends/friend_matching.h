// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cache/cluster_cache.h"
#include "tfile/table.h"
#include "view/friends/friend_streams.h"
#include "view/friends/key_expression.h"
#include "view/friends/key_index.h"

namespace tfilefs {

// The source of the values of a part of a key: columns of one number for each entry.
struct KeySource {
  std::shared_ptr<CachedStreams> streams;
  std::vector<tfile::Column> columns;
  std::optional<KeyExpression> expression;  // of these columns, or of none; nothing: the values of the only one
};
struct KeySources {
  KeySource major, minor;
  std::int64_t entries = 0;
  bool cuts = false;  // numbers are those of a stored index, which has no fractions
};

// Entries of a friend among which entries of a table are looked up.
struct IndexPart {
  EntryPart of;
  // The index of the friend's entries, from the first on; what it says of others is no match. Nothing: by position.
  std::optional<KeyIndex> index;
};

// An index, and the memory that it is counted in. It has one part; of a chain, one for each file.
struct CountedIndex {
  std::vector<IndexPart> parts;
  Budget::Reservation memory;
};
using CountedIndexPtr = std::shared_ptr<const CountedIndex>;

// The memory of an index of so many entries, while it is used. It and what is made of it may take half of the budget
// together. Error: is_refusal().
Result<Budget::Reservation> memory_of_index(ClusterCache&, std::int64_t entries);

// Reads the keys of a friend, and sorts them. Errors: those of reading, is_refusal().
void index_entries(ClusterCache&, const KeySources&, Reply<CountedIndexPtr>);

// Reads the keys of a table, and looks up each. Errors: those of reading, is_refusal().
void match_entries(ClusterCache&, const KeySources&, CountedIndexPtr, Reply<MatchedRunsPtr>);

}  // namespace tfilefs
