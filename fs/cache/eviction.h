// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tfilefs {

// A member of the cache that may have to leave it. Embedded in the cache's entries, so that a hit allocates nothing.
struct Resident {
  Resident* newer = nullptr;
  Resident* older = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t fingerprint = 0;  // the same for the same chunk, whenever it is loaded again
  std::uint8_t uses = 0;
  bool expected = false;  // loaded ahead for a reader that has not come yet
  enum class Queue : std::uint8_t { none, small, main, handed, handed_remote, passing } queue = Queue::none;
};

// S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023), counted in bytes. New residents
// enter a small queue and leave it quickly unless they are used again while they are in it, or soon after they left it
// (their fingerprints are remembered). So a scan passes through the small queue and does not touch residents in steady
// use. A resident that was loaded ahead and not used yet is passed over once.
//
// Residents that the kernel has a copy of go first: they move to a queue of their own (`handed`), which keeps a few
// megabytes. It keeps more only if this proves useful: a resident that has left it and is loaded again, or is used
// while it is in it, makes it longer by its bytes. Residents from a server, which cost a round trip each if the kernel
// drops its copy, have another such queue. It has no limit of its own: they go when others need the memory.
//
// Residents that were looked at once have a queue (`passing`) of two megabytes: whoever lists ten thousand objects
// makes each in memory that the caches of the processor still hold.
//
// Pure bookkeeping: takes no locks, and owns no memory of the residents.
class Eviction {
 public:
  // `capacity`: bytes of the whole cache.
  explicit Eviction(std::uint64_t capacity)
      : capacity_(capacity), small_target_(capacity / 10), handed_min_(std::min(kHandedMin, capacity / 4)) {}

  void insert(Resident&);
  static void touch(Resident& resident) {
    if (resident.uses < kUsesMax) ++resident.uses;
    resident.expected = false;
  }
  // The kernel keeps a copy of it.
  void hand_over(Resident&, bool is_remote);
  // It was looked at once.
  void pass(Resident&);
  void remove(Resident&);

  // Takes out the resident to be evicted next, among those for which idle(resident) holds; nullptr if there is none.
  template <class Idle>
  Resident* take_victim(Idle&& idle);
  // Takes out an idle resident that was handed over, or passes: take_excess() only while their queue holds more than it
  // is to keep.
  template <class Idle>
  Resident* take_excess(Idle&& idle) {
    Resident* const passing = take_handed_while(
        Resident::Queue::passing, [this] { return passing_.bytes > passing_max_; }, idle);
    if (passing) return passing;
    return take_handed_while(
        Resident::Queue::handed, [this] { return handed_.bytes > handed_max_; }, idle);
  }
  template <class Idle>
  Resident* take_handed(Idle&& idle) {
    const auto always = [] { return true; };
    if (Resident* const passing = take_handed_while(Resident::Queue::passing, always, idle)) return passing;
    Resident* const near = take_handed_while(Resident::Queue::handed, always, idle);
    return near ? near : take_handed_while(Resident::Queue::handed_remote, always, idle);
  }

  // Sets the limit of the handed queue back to its smallest: residents loaded again until now no longer count as a
  // reason to keep more.
  void forget_demand() { handed_max_ = handed_min_; }

  // has_handed_over(): whether a resident left after the kernel had got a copy of it, and has not come back.
  // is_asked_again(): whether many such residents come back; a few do so wherever the kernel drops a page now and then.
  bool has_handed_over(std::uint64_t fingerprint) const { return handed_ghosts_.contains(fingerprint); }
  bool is_asked_again() const { return handed_max_ >= handed_min_ + handed_min_ / 4; }

  std::uint64_t bytes() const {
    return small_.bytes + main_.bytes + handed_.bytes + handed_remote_.bytes + passing_.bytes;
  }
  std::uint64_t handed_max() const { return handed_max_; }

 private:
  static constexpr std::uint8_t kUsesMax = 3;  // as published: two bits per resident
  // A reader of two files with the same contents, shortly behind each other, finds the most recent chunks: four times
  // the window that is loaded ahead of a reader.
  static constexpr std::uint64_t kHandedMin = 32 << 20;
  static constexpr std::uint64_t kPassingMax = 2 << 20;

  struct Fifo {
    Resident* newest = nullptr;
    Resident* oldest = nullptr;
    std::uint64_t bytes = 0;
    std::size_t count = 0;
  };
  Fifo& fifo(Resident::Queue queue) {
    switch (queue) {
      case Resident::Queue::small:
        return small_;
      case Resident::Queue::handed:
        return handed_;
      case Resident::Queue::handed_remote:
        return handed_remote_;
      case Resident::Queue::passing:
        return passing_;
      default:
        return main_;
    }
  }
  template <class Wanted, class Idle>
  Resident* take_handed_while(Resident::Queue, Wanted&& wanted, Idle&& idle);
  void move(Resident&, Resident::Queue);
  void push(Resident&, Resident::Queue);
  void unlink(Resident&);
  void remember(std::uint64_t fingerprint);
  void remember_handed(const Resident&);
  void note_demand(std::uint64_t bytes) { handed_max_ = std::min(capacity_, handed_max_ + bytes); }

  const std::uint64_t capacity_, small_target_, handed_min_;
  const std::uint64_t passing_max_ = std::min(kPassingMax, capacity_ / 4);
  Fifo small_, main_, handed_, handed_remote_, passing_;
  std::deque<std::uint64_t> ghost_order_;
  std::unordered_set<std::uint64_t> ghosts_;

  // How much the handed queue may keep; and the residents that left it, for as long as a cache of the full size would
  // still hold them.
  std::uint64_t handed_max_ = handed_min_;
  std::deque<std::uint64_t> handed_order_;
  std::unordered_map<std::uint64_t, std::uint64_t> handed_ghosts_;  // fingerprint -> bytes
  std::uint64_t handed_ghost_bytes_ = 0;
};

template <class Wanted, class Idle>
Resident* Eviction::take_handed_while(Resident::Queue queue, Wanted&& wanted, Idle&& idle) {
  const Fifo& from = fifo(queue);
  for (std::size_t steps = 2 * from.count; steps > 0 && wanted(); --steps) {
    Resident* const candidate = from.oldest;
    unlink(*candidate);
    if (candidate->uses == 0 && idle(*candidate)) {
      if (queue != Resident::Queue::passing) remember_handed(*candidate);
      return candidate;
    }
    const bool is_used = std::exchange(candidate->uses, std::uint8_t{0}) > 0;
    if (is_used && queue == Resident::Queue::handed) note_demand(candidate->bytes);
    push(*candidate, queue);
  }
  return nullptr;
}

template <class Idle>
Resident* Eviction::take_victim(Idle&& idle) {
  if (Resident* handed = take_handed(idle)) return handed;
  // Each resident is passed at most kUsesMax + 3 times before it is taken or is seen not to be idle.
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
      push(*candidate, Resident::Queue::main);  // a reader holds it: it is in use
    } else {
      if (queue == Resident::Queue::small) remember(candidate->fingerprint);
      return candidate;
    }
  }
  return nullptr;
}

}  // namespace tfilefs
