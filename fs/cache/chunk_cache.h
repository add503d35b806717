// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/budget.h"
#include "cache/eviction.h"
#include "cache/set_counts.h"
#include "mutex.h"
#include "reply.h"
#include "tfile/chunk.h"

namespace tfilefs {

// A decoded chunk; its bytes count in the budget until the last holder lets go.
using ChunkPtr = std::shared_ptr<const tfile::Chunk>;
ChunkPtr hold_chunk(tfile::Chunk, Budget::Reservation);

// The memory of a chunk: its arrays, and the bookkeeping for it (entry, control block, vectors, their share of the
// allocator's own). Without the latter a cache full of small baskets would be a quarter larger than it says.
inline constexpr std::uint64_t kChunkBookkeeping = 512;
inline std::uint64_t chunk_memory(const tfile::Chunk& chunk) { return chunk.memory() + kChunkBookkeeping; }

// Called when a chunk that it joined or claimed has arrived, or failed. No lock is held.
class ChunkWaiter {
 public:
  virtual ~ChunkWaiter() = default;
  virtual void arrived(std::size_t position, const Result<ChunkPtr>&) = 0;
  virtual void promote(std::size_t position) = 0;  // another request waits for this one of its chunks
};

// The chunks of one stream set in the cache. Guarded by the cache's mutex; only the cache looks inside.
class SetChunks {
 private:
  friend class ChunkCache;
  enum class State : std::uint8_t { loading, ready, failed };
  struct Entry : Resident {
    State state = State::loading;
    ChunkPtr chunk;
    std::unique_ptr<Error> error;
    std::shared_ptr<ChunkWaiter> loader;  // while loading: the waiter that claimed it
    std::size_t loader_position = 0;
    std::vector<std::pair<std::shared_ptr<ChunkWaiter>, std::size_t>> waiters;
    SetChunks* set = nullptr;
    std::uint64_t key = 0;
    std::uint64_t not_handed = 0;   // bytes of its arrays that the kernel has not got yet
    std::uint64_t ahead_bytes = 0;  // stored size if it was loaded ahead, until a reader asks for it
  };
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::uint64_t id_ = 0;
  SetCounts* counts_ = nullptr;
};

// The chunks that there are. A chunk is *absent* (no entry). One request *claims* it, and it is *loading*; other
// requests that want it join and wait. When it is published it is *ready*, or *failed*. Damage is remembered. A failure
// of the storage is not: the chunk is absent again once its waiters know. A ready chunk leaves when the eviction says
// so. One mutex for all: it is held for a few look-ups at a time, a hundredth of the cost of the request around them.
// Thread-safe. No chunk is freed, and no waiter called, with the mutex held.
class ChunkCache {
 public:
  explicit ChunkCache(std::uint64_t capacity) : eviction_(capacity) {}

  void attach(SetChunks&, SetCounts&);
  void detach(SetChunks&);  // no chunk of it is loading

  // The chunks [first, last) of a stream, if all are ready. With `touch` this counts as a use of each.
  bool pin(SetChunks&, tfile::StreamId, std::uint32_t first, std::uint32_t last, bool touch,
           std::vector<ChunkPtr>& into);

  // The state of the chunk, pinned if it is ready; joins and claims nothing.
  struct Seen {
    ChunkPtr chunk;
    bool failed = false;
  };
  Seen look(SetChunks&, tfile::ChunkKey);

  // Removes from the list the chunks that are being loaded, are here, or are known to be damaged.
  void drop_known(SetChunks&, std::vector<tfile::ChunkKey>&) const;

  // Removes from the list the chunks that the kernel has, as far as that is known: they are not loaded again on a
  // guess.
  void drop_handed(SetChunks&, std::vector<tfile::ChunkKey>&) const;

  // The chunk or its damage if there is one. Otherwise the waiter is called later; if `claimed`, it is the one that
  // must publish. If `urgent`, a joined chunk that was prefetch is promoted. `ahead_bytes`: the stored size of a chunk
  // that is claimed before a reader has asked for it; else 0.
  struct Claim {
    std::optional<Result<ChunkPtr>> result;
    bool claimed = false;
  };
  Claim claim(SetChunks&, tfile::ChunkKey, const std::shared_ptr<ChunkWaiter>&, std::size_t position, bool urgent,
              std::uint64_t ahead_bytes);

  // Ends the loading of a claimed chunk. `ahead`: it was loaded ahead, and perhaps only its loader waits for it.
  void publish(SetChunks&, tfile::ChunkKey, Result<ChunkPtr>, bool ahead);

  // Adds a chunk that no reader asked for, unless there is one already.
  void keep(SetChunks&, tfile::ChunkKey, ChunkPtr);

  // `bytes[i]` of chunk `first` + i were given to the kernel, which keeps them. `is_remote`: they came from a server.
  void hand_over(SetChunks&, tfile::ChunkKey first, std::span<const std::uint64_t> bytes, bool is_remote);

  // The `count` chunks from `first` on were looked at once. Those of a server stay until others need the memory.
  void pass(SetChunks&, tfile::ChunkKey first, std::uint32_t count, bool is_remote);

  // Evicts the chunks that were handed over and not asked for since. The queue of such chunks then starts again with
  // its smallest size.
  void evict_handed();

  // Evicts until about `bytes` were freed. With `any`, chunks that readers hold leave the cache as well.
  void evict(std::uint64_t bytes, Budget::Evict);

 private:
  using Entry = SetChunks::Entry;
  using State = SetChunks::State;

  static std::uint64_t fingerprint_of(const SetChunks&, std::uint64_t key);
  void insert(Entry&, ChunkPtr) REQUIRES(mutex_);
  void drop(Entry&, std::vector<ChunkPtr>& gone) REQUIRES(mutex_);
  static bool is_idle(const Resident&);  // no reader holds it
  static void note_use(Entry&);
  static void note_loss(const Entry&);

  mutable Mutex mutex_{"ChunkCache::mutex_"};
  Eviction eviction_ GUARDED_BY(mutex_);
  std::uint64_t next_set_ GUARDED_BY(mutex_) = 1;
};

}  // namespace tfilefs
