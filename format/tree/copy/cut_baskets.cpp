// SPDX-License-Identifier: Apache-2.0
#include "tree/copy/cut_baskets.h"

#include <utility>

namespace tfile {
namespace {

std::uint64_t memory_of(const BasketContent& content) {
  return content.payload.size() + (content.offsets.size() + content.displacement.size()) * sizeof(std::int32_t);
}

}  // namespace

CutBaskets::ContentPtr CutBaskets::find(BranchIndex branch, std::size_t number) const {
  const Lock lock(mutex_);
  const auto found = kept_.find(branch);
  return found == kept_.end() || found->second.number != number ? nullptr : found->second.content;
}

CutBaskets::ContentPtr CutBaskets::take(BranchIndex branch) {
  const auto found = kept_.find(branch);
  if (found == kept_.end()) return nullptr;
  ContentPtr content = std::move(found->second.content);
  kept_.erase(found);
  memory_ -= memory_of(*content);
  return content;
}

void CutBaskets::keep(BranchIndex branch, std::size_t number, ContentPtr content) {
  if (content->payload.size() == 0) return;
  ContentPtr dropped;  // destroyed after the lock is released
  const std::uint64_t memory = memory_of(*content);
  const Lock lock(mutex_);
  dropped = take(branch);
  if (memory > memory_max_ - memory_) return;
  memory_ += memory;
  kept_.emplace(branch, Kept{number, std::move(content)});
}

void CutBaskets::drop(BranchIndex branch) {
  ContentPtr dropped;
  const Lock lock(mutex_);
  dropped = take(branch);
}

void CutBaskets::clear() {
  std::map<BranchIndex, Kept> dropped;
  const Lock lock(mutex_);
  dropped.swap(kept_);
  memory_ = 0;
}

}  // namespace tfile
