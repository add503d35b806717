// SPDX-License-Identifier: Apache-2.0
#include "cache/eviction.h"

#include <algorithm>

namespace tfilefs {

void Eviction::insert(Resident& resident) {
  resident.uses = 0;
  const bool seen_lately = ghosts_.erase(resident.fingerprint) > 0;
  push(resident, seen_lately ? Resident::Queue::main : Resident::Queue::small);
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
  // As many as there are residents in the main queue, as published; at least some, at most 1 MB of them.
  const std::size_t limit = std::clamp<std::size_t>(main_.count, 64, 16384);
  if (ghosts_.insert(fingerprint).second) ghost_order_.push_back(fingerprint);
  while (ghost_order_.size() > limit) {
    ghosts_.erase(ghost_order_.front());
    ghost_order_.pop_front();
  }
}

}  // namespace tfilefs
