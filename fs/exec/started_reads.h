// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "mutex.h"

namespace tfilefs {

// Counts the reads that sources do by themselves (tfile::Source::start_read), so that their end can be waited for. Each
// of them, or each row of reads of which one starts the next, begins and ends once.
class StartedReads {
 public:
  // False after stop(): nothing is to be read any more.
  bool begin(std::size_t count) {
    const Lock lock(mutex_);
    if (stopping_) return false;
    under_way_ += count;
    return true;
  }
  void end() {
    const Lock lock(mutex_);
    if (--under_way_ == 0) none_.notify_all();
  }
  // Waits for those that are under way.
  void stop() {
    const Lock lock(mutex_);
    stopping_ = true;
    while (under_way_ > 0) none_.wait(mutex_);
  }

 private:
  Mutex mutex_{"StartedReads::mutex_"};
  Condition none_;
  std::size_t under_way_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace tfilefs
