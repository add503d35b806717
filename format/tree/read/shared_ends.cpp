// SPDX-License-Identifier: Apache-2.0
#include "tree/read/shared_ends.h"

#include <algorithm>

namespace tfile {

std::shared_ptr<const Buffer> SharedEnds::at(const Range& place) const {
  const Lock lock(mutex_);
  const auto found = ends_.find(place);
  return found == ends_.end() ? nullptr : found->second.lock();
}

void SharedEnds::keep(const Range& place, const std::shared_ptr<const Buffer>& ends) {
  const Lock lock(mutex_);
  ends_[place] = ends;
  if (ends_.size() < look_at_) return;
  std::erase_if(ends_, [](const auto& entry) { return entry.second.expired(); });
  look_at_ = std::max(look_at_, 2 * ends_.size());
}

}  // namespace tfile
