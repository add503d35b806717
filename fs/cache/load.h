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

// Answers with the chunks `keys`, in this order, or with the first error. Reserves memory for all of them at once,
// claims those that are not being loaded yet, fetches their bytes in one plan, decodes them and the chunks of counts
// that they need, and answers when all have arrived. The extents of all streams concerned must be ready.
void load_chunks(std::shared_ptr<AttachedSet>, std::vector<tfile::ChunkKey> keys, Reply<std::vector<ChunkPtr>>);

// The same for chunks that no reader waits for yet, in any order, some of which may be there. Takes only memory that is
// free or idle, and is dropped otherwise. Chunks whose place among the items is known from payloads only are left out.
void load_chunks_ahead(const std::shared_ptr<AttachedSet>&, std::vector<tfile::ChunkKey> keys);

// The number of items in each of these chunks, from their payloads, one result per chunk; with the chunk itself where
// it was decoded for that. Such a chunk must still be placed (tfile::ItemCounter). None of them is in the cache. The
// extents of the streams of their inputs must be ready. Chunks that are not decoded yet when no caller waits are given
// up.
struct CountedItems {
  Result<std::vector<std::int64_t>> items;
  std::optional<tfile::Chunk> chunk;
  Budget::Reservation memory;  // of the chunk
};
using ItemCounts = std::vector<CountedItems>;
void load_item_counts(std::shared_ptr<AttachedSet>, std::vector<tfile::ChunkKey> keys, Reply<ItemCounts>);

}  // namespace tfilefs
