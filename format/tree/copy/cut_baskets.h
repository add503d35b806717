// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "tfile/mutex.h"
#include "tree/record/basket.h"
#include "tree/record/tree_record.h"

namespace tfile {

// Decompressed baskets of which further pieces will be cut: of each branch the last one, if there is room. A new
// cluster has pieces of all branches, so one that is dropped for another would be decompressed again each time.
// Thread-safe.
class CutBaskets {
 public:
  using ContentPtr = std::shared_ptr<const BasketContent>;
  explicit CutBaskets(std::uint64_t memory_max) : memory_max_(memory_max) {}

  // Null: it is not there.
  ContentPtr find(BranchIndex, std::size_t number) const EXCLUDES(mutex_);
  // Only those with a payload of their own: other bytes go with the unit.
  void keep(BranchIndex, std::size_t number, ContentPtr) EXCLUDES(mutex_);
  void drop(BranchIndex) EXCLUDES(mutex_);
  void clear() EXCLUDES(mutex_);

 private:
  struct Kept {
    std::size_t number = 0;
    ContentPtr content;
  };
  ContentPtr take(BranchIndex) REQUIRES(mutex_);

  const std::uint64_t memory_max_;
  mutable Mutex mutex_{"CutBaskets::mutex_"};
  std::map<BranchIndex, Kept> kept_ GUARDED_BY(mutex_);
  std::uint64_t memory_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfile
