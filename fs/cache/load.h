// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "cache/attached_set.h"
#include "cache/budget.h"
#include "cache/chunk_cache.h"
#include "exec/task_queue.h"
#include "reply.h"

namespace tfilefs {

// Makes the chunks `keys` be there (in this order in the answer; the first error if one fails): reserves their memory
// in one piece, claims those that nobody loads yet, fetches their bytes in one plan, decodes them and the chunks of
// counts that they need, and answers when all have arrived. The extents of all streams concerned must be ready.
void load_chunks(std::shared_ptr<AttachedSet>, std::vector<tfile::ChunkKey> keys, Reply<std::vector<ChunkPtr>>);

// The same for chunks that nobody waits for yet, in any order, some of which may be there. Takes only memory that is
// free or idle, and is dropped otherwise; chunks whose place among the items only payloads tell are left out.
void load_chunks_ahead(const std::shared_ptr<AttachedSet>&, std::vector<tfile::ChunkKey> keys);

// How many items each of these chunks holds, from their payloads, one result a chunk; with the chunk itself where it
// was decoded for that, which then still is to be placed (tfile::ItemCounter). None of them is in the cache.
// The extents of the streams of their inputs must be ready. What is not decoded yet when nobody waits is given up.
struct CountedItems {
  Result<std::vector<std::int64_t>> items;
  std::optional<tfile::Chunk> chunk;
  Budget::Reservation memory;  // of the chunk
};
using ItemCounts = std::vector<CountedItems>;
void load_item_counts(std::shared_ptr<AttachedSet>, std::vector<tfile::ChunkKey> keys, Reply<ItemCounts>);

}  // namespace tfilefs
