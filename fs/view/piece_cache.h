// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "mutex.h"

namespace tfilefs {

using PiecePtr = std::shared_ptr<const std::string>;

// The pieces of views that were made last, of all views together: a reader asks for a piece in several reads.
// Thread-safe.
class PieceCache {
 public:
  static PieceCache& shared();

  PiecePtr find(const void* owner, std::size_t piece);
  void keep(const void* owner, std::size_t piece, PiecePtr);
  void forget(const void* owner);

 private:
  struct Kept {
    const void* owner;
    std::size_t piece;
    PiecePtr bytes;
  };
  Mutex mutex_;
  std::deque<Kept> pieces_ GUARDED_BY(mutex_);
  std::size_t size_ GUARDED_BY(mutex_) = 0;  // bytes
};

}  // namespace tfilefs
