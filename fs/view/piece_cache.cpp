// SPDX-License-Identifier: Apache-2.0
#include "view/piece_cache.h"

#include <utility>

namespace tfilefs {
namespace {

// A few readers, each with its piece and the one that follows; pieces are up to about a megabyte.
constexpr std::size_t kSizeMax = 4 << 20;

}  // namespace

PieceCache& PieceCache::shared() {
  static PieceCache only;
  return only;
}

PiecePtr PieceCache::find(const void* owner, std::size_t piece) {
  const Lock lock(mutex_);
  for (const Kept& kept : pieces_)
    if (kept.owner == owner && kept.piece == piece) return kept.bytes;
  return nullptr;
}

void PieceCache::keep(const void* owner, std::size_t piece, PiecePtr bytes) {
  if (bytes->size() > kSizeMax) return;
  const Lock lock(mutex_);
  size_ += bytes->size();
  pieces_.push_front({owner, piece, std::move(bytes)});
  while (size_ > kSizeMax) {
    size_ -= pieces_.back().bytes->size();
    pieces_.pop_back();
  }
}

void PieceCache::forget(const void* owner) {
  const Lock lock(mutex_);
  std::erase_if(pieces_, [owner](const Kept& kept) { return kept.owner == owner; });
  size_ = 0;
  for (const Kept& kept : pieces_) size_ += kept.bytes->size();
}

}  // namespace tfilefs
