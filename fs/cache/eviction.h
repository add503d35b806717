// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_set>
#include <utility>

namespace tfilefs {

// What is in the cache and may have to leave it. Embedded in the cache's entries, so that a hit allocates nothing.
struct Resident {
  Resident* newer = nullptr;
  Resident* older = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t fingerprint = 0;  // the same for the same chunk, whenever it comes back
  std::uint8_t uses = 0;
  bool expected = false;  // loaded ahead of a reader who has not come yet
  enum class Queue : std::uint8_t { none, small, main } queue = Queue::none;
};

// S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023), counted in bytes. New residents
// enter a small queue and leave it quickly unless they are used again while they are in it, or soon after they left it
// (their fingerprints are remembered): so a scan passes through the small queue and does not touch what is in steady
// use. What was loaded ahead and not used yet is passed over once. Pure bookkeeping: no locks, no memory of the
// residents.
class Eviction {
 public:
  // `capacity`: bytes of the whole cache.
  explicit Eviction(std::uint64_t capacity) : small_target_(capacity / 10) {}

  void insert(Resident&);
  static void touch(Resident& resident) {
    if (resident.uses < kUsesMax) ++resident.uses;
    resident.expected = false;
  }
  void remove(Resident&);

  // Takes out the resident to be evicted next, among those for which idle(resident) holds; nullptr if there is none.
  template <class Idle>
  Resident* take_victim(Idle&& idle);

  std::uint64_t bytes() const { return small_.bytes + main_.bytes; }

 private:
  static constexpr std::uint8_t kUsesMax = 3;  // as published: two bits a resident
  struct Fifo {
    Resident* newest = nullptr;
    Resident* oldest = nullptr;
    std::uint64_t bytes = 0;
    std::size_t count = 0;
  };
  Fifo& fifo(Resident::Queue queue) { return queue == Resident::Queue::small ? small_ : main_; }
  void push(Resident&, Resident::Queue);
  void unlink(Resident&);
  void remember(std::uint64_t fingerprint);

  const std::uint64_t small_target_;
  Fifo small_, main_;
  std::deque<std::uint64_t> ghost_order_;
  std::unordered_set<std::uint64_t> ghosts_;
};

template <class Idle>
Resident* Eviction::take_victim(Idle&& idle) {
  // Each resident is passed at most kUsesMax + 3 times before its turn has come or it is seen not to be idle.
  std::size_t steps = (small_.count + main_.count) * (kUsesMax + 3);
  while (steps-- > 0) {
    const bool from_small = small_.count > 0 && (small_.bytes > small_target_ || main_.count == 0);
    Resident* candidate = from_small ? small_.oldest : main_.oldest;
    if (!candidate) candidate = small_.oldest;
    if (!candidate) return nullptr;
    const Resident::Queue queue = candidate->queue;
    unlink(*candidate);
    if (std::exchange(candidate->expected, false)) {
      push(*candidate, Resident::Queue::main);
    } else if (queue == Resident::Queue::small && candidate->uses > 1) {
      candidate->uses = 0;
      push(*candidate, Resident::Queue::main);
    } else if (queue == Resident::Queue::main && candidate->uses > 0) {
      --candidate->uses;
      push(*candidate, Resident::Queue::main);
    } else if (!idle(*candidate)) {
      push(*candidate, Resident::Queue::main);  // somebody holds it: it is in use
    } else {
      if (queue == Resident::Queue::small) remember(candidate->fingerprint);
      return candidate;
    }
  }
  return nullptr;
}

}  // namespace tfilefs
