// SPDX-License-Identifier: Apache-2.0
// The part of StagedBytes that writes, at once or in turn.
#include <algorithm>
#include <utility>

#include "exec/answering.h"
#include "staging/overlay/staged_bytes.h"

namespace tfilefs {

Result<std::optional<std::uint64_t>> StagedBytes::write_now(std::optional<std::uint64_t> offset,
                                                            std::span<const std::byte> bytes) {
  using At = std::optional<std::uint64_t>;
  std::vector<std::shared_ptr<StagedBuffer>> fresh, dead;
  const auto satisfied = [&](const std::vector<Need>& needs) {
    for (std::size_t i = 0; i < needs.size(); ++i)
      if (needs[i].capacity > 0 && (i >= fresh.size() || !fresh[i] || fresh[i]->size() < needs[i].capacity))
        return false;
    return true;
  };
  // First to see which buffers are needed, then once more with new ones, which are not made under the lock.
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<Need> needs;
    std::uint64_t room = 0;
    {
      Lock lock(mutex_);
      const std::uint64_t at = offset.value_or(size_);
      if (at < frozen_ || !waiting_.empty()) return At();
      TRY_VOID(check_writable(at, bytes.size()));
      const auto pieces = pieces_of(at, bytes.size());
      for (const BlockPiece& piece : pieces) needs.push_back(need_of(piece.block, piece.range));
      if (std::ranges::any_of(needs, &Need::load)) return At();
      if (satisfied(needs)) {
        // Another append may have moved this one to fewer blocks; a buffer is not given back under the lock.
        fresh.resize(std::max(fresh.size(), needs.size()));
        for (std::size_t i = 0; i < pieces.size(); ++i) {
          const auto& [block, range, done] = pieces[i];
          dead.push_back(put(block, range, bytes.subspan(done, range.size()), std::move(fresh[i])));
        }
        return At(at);
      }
    }
    for (const Need& need : needs) room += need.capacity;
    if (pass > 0 || !memory_.has_room(room)) return At();
    for (const Need& need : needs) fresh.push_back(need.capacity > 0 ? memory_.buffer(need.capacity) : nullptr);
  }
  return At();
}

void StagedBytes::write(std::optional<std::uint64_t> offset, std::span<const std::byte> bytes,
                        Reply<std::uint64_t> reply) {
  auto taken = write_now(offset, bytes);
  if (!taken || *taken) return reply(std::move(taken).map([](auto at) { return *at; }));
  std::list<Waiting> one;
  one.push_back({offset, {bytes.begin(), bytes.end()}, 0, std::move(reply)});
  {
    Lock lock(mutex_);
    waiting_.splice(waiting_.end(), one);
    if (std::exchange(has_turn_, true)) return;
  }
  ask_turn();
}

// Called with has_turn_ set. If no jobs are run any more, waiting writes are dropped, which answers them.
void StagedBytes::ask_turn() {
  if (memory_.run_in_turn([self = shared_from_this()] { self->take_turn(); })) return;
  std::list<Waiting> dropped;
  Lock lock(mutex_);
  dropped.swap(waiting_);
  has_turn_ = false;
}

// One write per turn, so that the writes of one file do not hold up others. A frozen write leaves the queue until
// thaw().
void StagedBytes::take_turn() {
  Waiting* first = nullptr;
  {
    Lock lock(mutex_);
    first = &waiting_.front();
  }
  auto done = result_of([&] { return go_on(*first); });
  const bool ended = !done || *done;
  std::list<Waiting> over;
  bool more = false;
  {
    Lock lock(mutex_);
    if (ended) over.splice(over.end(), waiting_, waiting_.begin());
    more = ended ? !waiting_.empty() : first->offset.value_or(size_) + first->done >= frozen_;
    has_turn_ = more;
  }
  if (more) ask_turn();
  if (!ended) return;
  Waiting& write = over.front();
  write.reply(std::move(done).map([&](bool) { return *write.offset; }));
}

// Does the rest of a write, or (false) the part before the frozen bytes. Blocks to make room and for the journal.
Result<bool> StagedBytes::go_on(Waiting& write) {
  if (write.reply.stop_token().stop_requested()) return cancelled();
  const std::span<const std::byte> left = std::span(write.bytes).subspan(write.done);
  {
    Lock lock(mutex_);
    const std::uint64_t at = write.offset.value_or(size_);
    if (at + write.done < frozen_) return false;
    TRY_VOID(check_writable(at + write.done, left.size()));
    write.offset = at;
  }
  for (const BlockPiece& piece : pieces_of(*write.offset + write.done, left.size())) {
    TRY(const bool put, write_piece(piece.block, piece.range, left.subspan(piece.done, piece.range.size())));
    if (!put) return false;
    write.done += piece.range.size();
  }
  return true;
}

Result<bool> StagedBytes::write_piece(std::uint64_t number, BlockRange range, std::span<const std::byte> bytes) {
  std::shared_ptr<StagedBuffer> fresh, dead;
  for (;;) {
    Need need;
    {
      Lock lock(mutex_);
      if (number * kStagedBlockSize + range.begin < frozen_) return false;
      TRY_VOID(check_writable(number * kStagedBlockSize + range.begin, range.size()));
      need = need_of(number, range);
      if (!need.load && (need.capacity == 0 || (fresh && fresh->size() >= need.capacity))) {
        dead = put(number, range, bytes, std::move(fresh));
        return true;
      }
    }
    if (need.load) {
      TRY_VOID(load(number));
    } else {
      TRY_VOID(memory_.make_room(need.capacity));
      fresh = memory_.buffer(need.capacity);
    }
  }
}

bool StagedBytes::is_frozen_at(std::uint64_t offset) const {
  Lock lock(mutex_);
  return offset < frozen_;
}

void StagedBytes::when_thawed(std::uint64_t offset, Reply<void> reply) {
  {
    Lock lock(mutex_);
    if (offset < frozen_) {
      until_thawed_.push_back(std::move(reply));
      return;
    }
  }
  reply({});
}

// The thread of the commit holds locks, so the waiting writes go on in the queue.
void StagedBytes::thaw() {
  bool writes = false;
  auto then = std::make_shared<std::vector<Reply<void>>>();
  {
    Lock lock(mutex_);
    frozen_ = 0;
    if (!waiting_.empty()) writes = !std::exchange(has_turn_, true);
    then->swap(until_thawed_);
  }
  if (writes) ask_turn();
  if (then->empty()) return;
  memory_.run_in_turn([then] {
    for (Reply<void>& reply : *then) reply({});
  });
}

}  // namespace tfilefs
