// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "cache/budget.h"
#include "mutex.h"

namespace tfilefs {

using PiecePtr = std::shared_ptr<const std::string>;

// Pieces of bytes that were made most recently, of all owners in a mount together: of views, for a reader asks for a
// piece in several reads; of columns of chains (file_parts()). They count in the budget. Thread-safe.
class PieceCache {
 public:
  // Holds so many bytes, but no more than this share of the budget: the rest is for the chunks that pieces are made of.
  PieceCache(std::shared_ptr<Budget> budget, std::size_t size_max, std::uint64_t budget_share);

  PiecePtr find(const void* owner, std::size_t piece);
  void keep(const void* owner, std::size_t piece, PiecePtr);
  void forget(const void* owner);

 private:
  using Key = std::pair<const void*, std::size_t>;  // owner, piece
  struct Kept {
    PiecePtr bytes;
    Budget::Reservation memory;
    std::list<Key>::iterator turn;
  };
  using Pieces = std::map<Key, Kept>;
  Kept taken_out(Pieces::iterator) REQUIRES(mutex_);

  const std::shared_ptr<Budget> budget_;
  const std::size_t size_max_;
  Mutex mutex_{"PieceCache::mutex_"};
  Pieces pieces_ GUARDED_BY(mutex_);
  std::list<Key> order_ GUARDED_BY(mutex_);  // the oldest first
  std::size_t size_ GUARDED_BY(mutex_) = 0;  // bytes
};

}  // namespace tfilefs
