// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "mutex.h"

namespace tfilefs {

// Work that may block for long, in lanes. Jobs of one lane run one after the other, in order, on a thread of the lane's
// own, which exists while the lane has jobs. So no job waits for another lane, and a job that waits for its turn is
// only a function in a queue.
class Lanes {
 public:
  ~Lanes() { stop(); }

  // `lane`: an address that serves as its name, and is never dereferenced. False if the job was dropped: after stop(),
  // or where no thread can be made.
  bool run(const void* lane, std::function<void()> job) EXCLUDES(mutex_);

  // Runs the queued jobs, then joins the threads. Must not be called from one of them.
  void stop() EXCLUDES(mutex_);

 private:
  struct Lane {
    std::deque<std::function<void()>> jobs;
    std::thread thread;
  };
  void work(const void* lane) EXCLUDES(mutex_);

  Mutex mutex_{"Lanes::mutex_"};
  Condition ended_;
  std::map<const void*, Lane> lanes_ GUARDED_BY(mutex_);      // those that have jobs
  std::vector<std::thread> done_threads_ GUARDED_BY(mutex_);  // have no job any more, and are to be joined
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace tfilefs
