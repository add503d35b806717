// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "exec/task_queue.h"
#include "mutex.h"

namespace tfilefs {

// So many threads, which take jobs from one queue.
class ThreadPool {
 public:
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();  // as stop()

  // Jobs that somebody waits for run before those ahead of need; within a class in order. False after stop(): the job
  // was dropped.
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
