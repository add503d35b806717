// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "mutex.h"
#include "tfile/source.h"

namespace tfilefs {

// The changes that commits of this mount make to a file: a state that they leave is the same to readers of earlier
// states, unless another program came between. Thread-safe.
class OwnChanges {
 public:
  // A commit begins. `now`: the file's state; nothing if it is not known. Returns the age for generations opened in
  // that state. The age grows with each change by another program.
  std::uint64_t begin(const std::optional<tfile::Identity>& now) EXCLUDES(mutex_);
  // The commit has ended and left the file in this state.
  void end(const std::optional<tfile::Identity>& now) EXCLUDES(mutex_);

  std::uint64_t age() const EXCLUDES(mutex_);
  // Whether a file in the state `now` still shows what was opened at that age.
  bool made(std::uint64_t age, const tfile::Identity& now) const EXCLUDES(mutex_);
  // Changes when a commit begins or ends: a state obtained before may then be one in between.
  std::uint64_t moment() const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_{"OwnChanges::mutex_", "", "a read"};
  std::optional<tfile::Identity> left_ GUARDED_BY(mutex_);  // by the last commit
  bool under_way_ GUARDED_BY(mutex_) = false;
  std::uint64_t age_ GUARDED_BY(mutex_) = 0, moment_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfilefs
