// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <utility>

#include "mutex.h"
#include "reply.h"
#include "tfile/check.h"

namespace tfilefs {

// The first error of work that goes on in several places. Thread-safe.
class FirstError {
 public:
  void note(Error error) EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    if (!error_) error_ = std::move(error);
    is_there_ = true;
  }
  bool is_there() const { return is_there_; }
  // If one is there.
  Error get() const EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    TFILE_DCHECK(error_.has_value());
    return *error_;
  }

 private:
  mutable Mutex mutex_{"FirstError::mutex_"};
  std::optional<Error> error_ GUARDED_BY(mutex_);
  std::atomic<bool> is_there_ = false;
};

}  // namespace tfilefs
