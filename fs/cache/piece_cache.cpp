// SPDX-License-Identifier: Apache-2.0
#include "cache/piece_cache.h"

#include <algorithm>
#include <vector>

namespace tfilefs {

PieceCache::PieceCache(std::shared_ptr<Budget> budget, std::size_t size_max, std::uint64_t budget_share)
    : budget_(std::move(budget)), size_max_(std::min<std::uint64_t>(size_max, budget_->size() / budget_share)) {}

PiecePtr PieceCache::find(const void* owner, std::size_t piece) {
  const Lock lock(mutex_);
  const auto found = pieces_.find({owner, piece});
  return found == pieces_.end() ? nullptr : found->second.bytes;
}

// Memory of dropped pieces is given back after the lock is released, since requests may be waiting for it.
void PieceCache::keep(const void* owner, std::size_t piece, PiecePtr bytes) {
  const std::size_t size = bytes->size();
  if (size > size_max_) return;
  Budget::Reservation memory = budget_->take(size);
  std::vector<Kept> left;
  const Lock lock(mutex_);
  const Key key{owner, piece};
  if (const auto same = pieces_.find(key); same != pieces_.end()) left.push_back(taken_out(same));
  while (size_ + size > size_max_) left.push_back(taken_out(pieces_.find(order_.front())));
  pieces_.emplace(key, Kept{std::move(bytes), std::move(memory), order_.insert(order_.end(), key)});
  size_ += size;
}

void PieceCache::forget(const void* owner) {
  std::vector<Kept> left;
  const Lock lock(mutex_);
  for (auto next = pieces_.lower_bound({owner, 0}); next != pieces_.end() && next->first.first == owner;)
    left.push_back(taken_out(next++));
}

PieceCache::Kept PieceCache::taken_out(Pieces::iterator place) {
  Kept kept = std::move(place->second);
  order_.erase(kept.turn);
  size_ -= kept.bytes->size();
  pieces_.erase(place);
  return kept;
}

}  // namespace tfilefs
