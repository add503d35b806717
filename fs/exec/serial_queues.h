// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "mutex.h"

namespace tfilefs {

// Work that may block for long, in serial queues. Jobs of one queue run one after the other, in order, on a thread of
// the queue's own, which exists while the queue has jobs. So no job waits for another queue, and a job that waits for
// its turn is only a function in a queue.
class SerialQueues {
 public:
  ~SerialQueues() { stop(); }

  // `queue`: an address that serves as its name, and is never dereferenced. False if the job was dropped: after stop(),
  // or where no thread can be made.
  bool run(const void* queue, std::function<void()> job) EXCLUDES(mutex_);

  // In the one of `count` queues, at this address and behind it, that has the fewest jobs: so many run at once.
  bool run_in_one_of(const void* queues, std::size_t count, std::function<void()> job) EXCLUDES(mutex_);

  // Runs the queued jobs, then joins the threads. Must not be called from one of them.
  void stop() EXCLUDES(mutex_);

 private:
  struct Queue {
    std::deque<std::function<void()>> jobs;
    std::thread thread;
    bool is_running = false;
  };
  std::size_t jobs_of(const void* queue) const REQUIRES(mutex_);
  bool add(const void* queue, std::function<void()> job) REQUIRES(mutex_);
  void work(const void* queue) EXCLUDES(mutex_);

  Mutex mutex_{"SerialQueues::mutex_"};
  Condition ended_;
  std::map<const void*, Queue> queues_ GUARDED_BY(mutex_);    // those that have jobs
  std::vector<std::thread> done_threads_ GUARDED_BY(mutex_);  // have no job any more, and are to be joined
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace tfilefs
