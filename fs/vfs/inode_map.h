// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tfile/check.h"
#include "vfs/nodes/attributes.h"

namespace tfilefs {

// Values by inode id. The ids are hashes already, so the table uses open addressing: a look-up touches one line of
// memory, where a node-based map takes three (a quarter of the daemon's time in a listing of 10,000 names). T must be
// null when false.
template <class T>
class InodeMap {
 public:
  // Null if it is not there.
  const T* find(InodeId id) const {
    const Slot& slot = slots_[index_of(id)];
    return slot.value ? &slot.value : nullptr;
  }

  // The value at `id`, null if it is new and to be filled. Valid until the next call.
  T& operator[](InodeId id) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[index_of(id)];
    if (!slot.value) {
      slot.id = id;
      ++size_;
    }
    return slot.value;
  }

  // Removes a value that must be there.
  T take(InodeId id) {
    std::size_t hole = index_of(id);
    TFILE_DCHECK(slots_[hole].value);
    T taken = std::move(slots_[hole].value);
    --size_;
    // A value that was displaced past the hole moves into it, so that no search ends too early there.
    for (std::size_t at = next(hole); slots_[at].value; at = next(at)) {
      const std::size_t home = slots_[at].id & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      slots_[hole] = std::move(slots_[at]);
      slots_[at].value = T();
      hole = at;
    }
    slots_[hole].value = T();
    return taken;
  }

  std::size_t size() const { return size_; }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.value) visit(slot.value);
    }
  }

 private:
  struct Slot {
    InodeId id = 0;
    T value{};
  };
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
  std::size_t index_of(InodeId id) const {
    std::size_t at = id & mask();
    while (slots_[at].value && slots_[at].id != id) at = next(at);
    return at;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.value) slots_[index_of(slot.id)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);  // at most half full; a power of two
  std::size_t size_ = 0;
};

}  // namespace tfilefs
