// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "cache/task_queue.h"
#include "mutex.h"

namespace tfilefs {

// The threads that may block: in Source::read, in opening files, in reading directories. They decode nothing.
class Fetcher {
 public:
  explicit Fetcher(unsigned threads);
  ~Fetcher();  // as stop()

  // Jobs that somebody waits for run before prefetch; within a class in order. False after stop(): the job was dropped.
  bool run(std::function<void()> job, Urgency, const void* owner = nullptr);
  void promote(const void* owner);

  // Runs what is queued, then joins the threads. Not from one of them.
  void stop();

 private:
  void work();

  std::vector<std::thread> threads_;
  Mutex mutex_;
  Condition wake_;
  TaskQueue queue_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace tfilefs
