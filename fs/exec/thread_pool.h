// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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
  // A request waits for the owner's jobs now.
  void promote(const void* owner);

  // Waits until no job is left, including those that jobs submit. Others can be run afterwards.
  void finish();

  // Runs the queued jobs, then joins the threads. Must not be called from one of them.
  void stop();

 private:
  void work();

  std::vector<std::thread> threads_;
  Mutex mutex_{"ThreadPool::mutex_"};
  Condition wake_, idle_;
  TaskQueue queue_ GUARDED_BY(mutex_);
  std::size_t running_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace tfilefs
