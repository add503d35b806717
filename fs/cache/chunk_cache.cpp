// SPDX-License-Identifier: Apache-2.0
#include "cache/chunk_cache.h"

#include <limits>
#include <new>

#include "exec/answering.h"

namespace tfilefs {
namespace {

std::uint64_t packed(tfile::StreamId stream, std::uint32_t index) { return std::uint64_t{stream} << 32 | index; }

tfile::StreamId stream_of(std::uint64_t packed) { return static_cast<tfile::StreamId>(packed >> 32); }

std::uint64_t mixed(std::uint64_t x) {  // the finalizer of MurmurHash3
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

// Errors that stay true of the bytes however often they are read. Others may be gone the next time.
bool remembered(const Error& error) { return error.kind == ErrorKind::damaged || error.kind == ErrorKind::unsupported; }

}  // namespace

bool ChunkCache::is_idle(const Resident& resident) {
  return static_cast<const Entry&>(resident).chunk.use_count() == 1;
}

ChunkPtr hold_chunk(tfile::Chunk chunk, Budget::Reservation memory) {
  struct Held {
    Budget::Reservation memory;  // given back after the chunk is freed
    tfile::Chunk chunk;
  };
  auto held = std::make_shared<Held>(Held{std::move(memory), std::move(chunk)});
  return {held, &held->chunk};
}

void ChunkCache::attach(SetChunks& set, SetCounts& counts) {
  Lock lock(mutex_);
  set.counts_ = &counts;
  set.id_ = next_set_++;
}

void ChunkCache::detach(SetChunks& set) {
  std::unordered_map<std::uint64_t, Entry> gone;  // freed after the lock is released
  Lock lock(mutex_);
  for (auto& [key, entry] : set.entries_) {
    eviction_.remove(entry);
    note_loss(entry);
  }
  gone.swap(set.entries_);
}

void ChunkCache::note_use(Entry& entry) {
  if (entry.ahead_bytes == 0) return;
  AtomicReadCounts& counts = entry.set->counts_->stream(stream_of(entry.key));
  counts.add(Count::chunks_ahead_used, 1);
  counts.add(Count::bytes_ahead_used, std::exchange(entry.ahead_bytes, 0));
}

void ChunkCache::note_loss(const Entry& entry) {
  if (entry.ahead_bytes > 0) entry.set->counts_->stream(stream_of(entry.key)).add(Count::chunks_ahead_lost, 1);
}

bool ChunkCache::pin(SetChunks& set, tfile::StreamId stream, std::uint32_t first, std::uint32_t last, bool touch,
                     std::vector<ChunkPtr>& into) {
  into.reserve(last - first);
  Lock lock(mutex_);
  for (std::uint32_t index = first; index < last; ++index) {
    const auto found = set.entries_.find(packed(stream, index));
    if (found == set.entries_.end() || found->second.state != State::ready) return false;
    into.push_back(found->second.chunk);
    note_use(found->second);
    if (touch) Eviction::touch(found->second);
  }
  return true;
}

ChunkCache::Seen ChunkCache::look(SetChunks& set, tfile::ChunkKey key) {
  Lock lock(mutex_);
  const auto found = set.entries_.find(packed(key.stream, key.index));
  if (found == set.entries_.end()) return {};
  return {found->second.chunk, found->second.state == State::failed};
}

void ChunkCache::drop_known(SetChunks& set, std::vector<tfile::ChunkKey>& keys) const {
  Lock lock(mutex_);
  std::erase_if(keys, [&](tfile::ChunkKey key) { return set.entries_.contains(packed(key.stream, key.index)); });
}

void ChunkCache::drop_handed(SetChunks& set, std::vector<tfile::ChunkKey>& keys) const {
  Lock lock(mutex_);
  if (eviction_.is_asked_again()) return;  // the kernel has dropped its pages
  std::vector<tfile::ChunkKey> wanted;
  for (const tfile::ChunkKey key : keys)
    if (!eviction_.has_handed_over(fingerprint_of(set, packed(key.stream, key.index)))) wanted.push_back(key);
  keys = std::move(wanted);
}

std::uint64_t ChunkCache::fingerprint_of(const SetChunks& set, std::uint64_t key) {
  return mixed(key + mixed(set.id_));
}

ChunkCache::Claim ChunkCache::claim(SetChunks& set, tfile::ChunkKey key, const std::shared_ptr<ChunkWaiter>& waiter,
                                    std::size_t position, bool urgent, std::uint64_t ahead_bytes) {
  std::shared_ptr<ChunkWaiter> to_promote;
  std::size_t to_promote_position = 0;
  Claim claim;
  {
    Lock lock(mutex_);
    auto [place, is_new] = set.entries_.try_emplace(packed(key.stream, key.index));
    Entry& entry = place->second;
    if (!is_new && ahead_bytes == 0) note_use(entry);
    if (is_new) {
      try {
        entry.waiters.emplace_back(waiter, position);
      } catch (...) {
        set.entries_.erase(place);  // nobody would publish it
        throw;
      }
      entry.set = &set;
      entry.ahead_bytes = ahead_bytes;
      entry.key = place->first;
      entry.fingerprint = fingerprint_of(set, entry.key);
      entry.loader = waiter;
      entry.loader_position = position;
      claim.claimed = true;
    } else if (entry.state == State::ready) {
      claim.result.emplace(entry.chunk);
      Eviction::touch(entry);
    } else if (entry.state == State::failed) {
      claim.result.emplace(tl::unexpected<Error>(*entry.error));
    } else if (urgent) {
      to_promote = entry.loader;
      to_promote_position = entry.loader_position;
    }
    if (!is_new && !claim.result) entry.waiters.emplace_back(waiter, position);
  }
  if (to_promote) to_promote->promote(to_promote_position);
  return claim;
}

void ChunkCache::publish(SetChunks& set, tfile::ChunkKey key, Result<ChunkPtr> result, bool ahead) {
  std::vector<std::pair<std::shared_ptr<ChunkWaiter>, std::size_t>> waiters;
  std::shared_ptr<ChunkWaiter> loader;
  {
    Lock lock(mutex_);
    const auto place = set.entries_.find(packed(key.stream, key.index));
    Entry& entry = place->second;
    waiters.swap(entry.waiters);
    loader.swap(entry.loader);
    try {
      if (result) {
        entry.expected = ahead && waiters.size() == 1;
        insert(entry, *result);
      } else if (remembered(result.error())) {
        entry.error = std::make_unique<Error>(result.error());
        entry.state = State::failed;
      } else {
        note_loss(entry);
        set.entries_.erase(place);
      }
    } catch (const std::bad_alloc&) {  // there is no memory to keep it: those who wait get it all the same
      set.entries_.erase(place);
    }
  }
  for (auto& [waiter, position] : waiters) run_caught([&, &to = waiter, at = position] { to->arrived(at, result); });
}

void ChunkCache::keep(SetChunks& set, tfile::ChunkKey key, ChunkPtr chunk) {
  Lock lock(mutex_);
  auto [place, is_new] = set.entries_.try_emplace(packed(key.stream, key.index));
  if (!is_new) return;
  Entry& entry = place->second;
  entry.set = &set;
  entry.key = place->first;
  entry.fingerprint = fingerprint_of(set, entry.key);
  insert(entry, std::move(chunk));
}

void ChunkCache::insert(Entry& entry, ChunkPtr chunk) {
  entry.state = State::ready;
  entry.bytes = chunk_memory(*chunk);
  for (const auto array : chunk->arrays) entry.not_handed += array.size();
  entry.chunk = std::move(chunk);
  eviction_.insert(entry);
}

void ChunkCache::drop(Entry& entry, std::vector<ChunkPtr>& gone) {
  gone.push_back(std::move(entry.chunk));
  entry.set->counts_->stream(stream_of(entry.key)).add(Count::evictions, 1);
  note_loss(entry);
  entry.set->entries_.erase(entry.key);
}

void ChunkCache::hand_over(SetChunks& set, tfile::ChunkKey first, std::span<const std::uint64_t> bytes,
                           bool is_remote) {
  std::vector<ChunkPtr> gone;  // freed after the lock is released
  Lock lock(mutex_);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto found = set.entries_.find(packed(first.stream, first.index + static_cast<std::uint32_t>(i)));
    if (found == set.entries_.end() || found->second.state != State::ready || found->second.not_handed == 0) continue;
    Entry& entry = found->second;
    entry.not_handed -= std::min(entry.not_handed, bytes[i]);
    if (entry.not_handed == 0) eviction_.hand_over(entry, is_remote);
  }
  while (Resident* victim = eviction_.take_excess(is_idle)) drop(static_cast<Entry&>(*victim), gone);
}

void ChunkCache::pass(SetChunks& set, tfile::ChunkKey first, std::uint32_t count, bool is_remote) {
  std::vector<ChunkPtr> gone;  // freed after the lock is released
  Lock lock(mutex_);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto found = set.entries_.find(packed(first.stream, first.index + i));
    if (found == set.entries_.end() || found->second.state != State::ready) continue;
    is_remote ? eviction_.hand_over(found->second, true) : eviction_.pass(found->second);
  }
  while (Resident* victim = eviction_.take_excess(is_idle)) drop(static_cast<Entry&>(*victim), gone);
}

void ChunkCache::evict_handed() {
  std::vector<ChunkPtr> gone;  // freed after the lock is released
  Lock lock(mutex_);
  eviction_.forget_demand();
  while (Resident* victim = eviction_.take_handed(is_idle)) drop(static_cast<Entry&>(*victim), gone);
}

void ChunkCache::evict(std::uint64_t bytes, Budget::Evict which) {
  if (bytes == 0) return;
  std::vector<ChunkPtr> gone;  // freed after the lock is released
  Lock lock(mutex_);
  const auto idle = [&](const Resident& resident) { return which == Budget::Evict::any || is_idle(resident); };
  std::uint64_t freed = 0;
  while (freed < bytes) {
    auto* victim = static_cast<Entry*>(eviction_.take_victim(idle));
    if (!victim) break;
    freed += victim->bytes;
    drop(*victim, gone);
  }
}

}  // namespace tfilefs
