// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/own_changes.h"

namespace tfilefs {

std::uint64_t OwnChanges::begin(const std::optional<tfile::Identity>& now) {
  const Lock lock(mutex_);
  if (!left_ || left_ != now) ++age_;
  left_ = now;
  under_way_ = true;
  ++moment_;
  return age_;
}

void OwnChanges::end(const std::optional<tfile::Identity>& now) {
  const Lock lock(mutex_);
  left_ = now;
  under_way_ = false;
  ++moment_;
}

std::uint64_t OwnChanges::age() const {
  const Lock lock(mutex_);
  return age_;
}

// A state of another object is accepted: a file that a commit has replaced by a new one is not written any more.
bool OwnChanges::made(std::uint64_t age, const tfile::Identity& now) const {
  const Lock lock(mutex_);
  if (age != age_) return false;
  return under_way_ || !left_ || *left_ == now || !left_->is_same_object(now);
}

std::uint64_t OwnChanges::moment() const {
  const Lock lock(mutex_);
  return moment_;
}

}  // namespace tfilefs
