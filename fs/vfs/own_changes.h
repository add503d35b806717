// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "mutex.h"
#include "tfile/source.h"

namespace tfilefs {

// What the commits of this mount made of a file: a state that they left changes nothing of what anyone has read before,
// unless another program came between. Thread-safe.
class OwnChanges {
 public:
  // A commit begins. `now`: the file's state; none where it cannot be told. Gives the age of what was opened in that
  // state, and grows old with the next change by another program.
  std::uint64_t begin(const std::optional<tfile::Identity>& now) EXCLUDES(mutex_);
  // It has ended, with the file in this state.
  void end(const std::optional<tfile::Identity>& now) EXCLUDES(mutex_);

  std::uint64_t age() const EXCLUDES(mutex_);
  // Whether a file in the state `now` shows what was opened at that age.
  bool made(std::uint64_t age, const tfile::Identity& now) const EXCLUDES(mutex_);
  // Differs when a commit has begun or ended meanwhile: then a state that was looked at before may be none of theirs.
  std::uint64_t moment() const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::optional<tfile::Identity> left_ GUARDED_BY(mutex_);  // by the last of them
  bool under_way_ GUARDED_BY(mutex_) = false;
  std::uint64_t age_ GUARDED_BY(mutex_) = 0, moment_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfilefs
