// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "exec/task_queue.h"
#include "mutex.h"

namespace tfilefs {

// A fixed number of threads that take jobs from one queue.
class ThreadPool {
 public:
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();  // as stop()

  // Jobs that a request waits for run before prefetch, and within a class in order. False after stop(): the job was
  // dropped.
  bool run(std::function<void()> job, Urgency, const void* owner = nullptr);
  void promote(const void* owner);

  // Runs the queued jobs, then joins the threads. Must not be called from one of them.
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
