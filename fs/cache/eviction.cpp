// SPDX-License-Identifier: Apache-2.0
#include "cache/eviction.h"

#include <algorithm>

namespace tfilefs {

void Eviction::insert(Resident& resident) {
  resident.uses = 0;
  const bool seen_lately = ghosts_.erase(resident.fingerprint) > 0;
  if (const auto ghost = handed_ghosts_.find(resident.fingerprint); ghost != handed_ghosts_.end()) {
    note_demand(resident.bytes);
    handed_ghost_bytes_ -= ghost->second;
    handed_ghosts_.erase(ghost);
  }
  push(resident, seen_lately ? Resident::Queue::main : Resident::Queue::small);
}

void Eviction::hand_over(Resident& resident, bool is_remote) {
  move(resident, is_remote ? Resident::Queue::handed_remote : Resident::Queue::handed);
}

void Eviction::pass(Resident& resident) { move(resident, Resident::Queue::passing); }

void Eviction::move(Resident& resident, Resident::Queue to) {
  if (resident.queue == Resident::Queue::none || resident.queue == to) return;
  unlink(resident);
  resident.uses = 0;
  resident.expected = false;
  push(resident, to);
}

void Eviction::remove(Resident& resident) {
  if (resident.queue != Resident::Queue::none) unlink(resident);
}

void Eviction::push(Resident& resident, Resident::Queue queue) {
  Fifo& to = fifo(queue);
  resident.queue = queue;
  resident.newer = nullptr;
  resident.older = to.newest;
  (to.newest ? to.newest->newer : to.oldest) = &resident;
  to.newest = &resident;
  to.bytes += resident.bytes;
  ++to.count;
}

void Eviction::unlink(Resident& resident) {
  Fifo& from = fifo(resident.queue);
  (resident.newer ? resident.newer->older : from.newest) = resident.older;
  (resident.older ? resident.older->newer : from.oldest) = resident.newer;
  resident.newer = resident.older = nullptr;
  resident.queue = Resident::Queue::none;
  from.bytes -= resident.bytes;
  --from.count;
}

void Eviction::remember(std::uint64_t fingerprint) {
  // As many as there are residents in the main queue, as published; but at least 64, and at most 1 MB of them.
  const std::size_t limit = std::clamp<std::size_t>(main_.count, 64, 16384);
  if (ghosts_.insert(fingerprint).second) ghost_order_.push_back(fingerprint);
  while (ghost_order_.size() > limit) {
    ghosts_.erase(ghost_order_.front());
    ghost_order_.pop_front();
  }
}

namespace {
// A table may have more than a hundred thousand baskets of a few kilobytes, and each that is forgotten is loaded again
// on a guess. About 64 bytes per ghost: 2 MB, and 16 MB with a memory of 4 GB.
constexpr std::uint64_t kGhostsMin = 32768, kGhostsMost = 262144, kBytesAGhost = 16 << 10;
}  // namespace

void Eviction::remember_handed(const Resident& resident) {
  const std::size_t ghosts_max = std::clamp<std::uint64_t>(capacity_ / kBytesAGhost, kGhostsMin, kGhostsMost);
  if (handed_ghosts_.emplace(resident.fingerprint, resident.bytes).second) {
    handed_order_.push_back(resident.fingerprint);
    handed_ghost_bytes_ += resident.bytes;
  }
  while (handed_ghost_bytes_ > capacity_ || handed_order_.size() > ghosts_max) {
    if (const auto oldest = handed_ghosts_.find(handed_order_.front()); oldest != handed_ghosts_.end()) {
      handed_ghost_bytes_ -= oldest->second;
      handed_ghosts_.erase(oldest);
    }
    handed_order_.pop_front();
  }
}

}  // namespace tfilefs
