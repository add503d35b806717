// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "exec/task_queue.h"
#include "mutex.h"

namespace tfilefs {

// The oneTBB arena for work that never blocks: it decodes chunks, and answers the requests that they complete. It holds
// only tokens; the tasks themselves wait in a queue of two classes, so that a reader's chunk overtakes prefetch.
class Arena {
 public:
  explicit Arena(unsigned threads);
  ~Arena();  // as stop()

  void run(std::function<void()> task, Urgency, const void* owner = nullptr);
  void promote(const void* owner);

  // Waits until no task is left, including tasks that tasks submit.
  void stop();

 private:
  void run_one();

  struct Tbb;  // oneTBB stays in arena.cpp
  std::unique_ptr<Tbb> tbb_;
  Mutex mutex_;
  Condition idle_;
  TaskQueue queue_ GUARDED_BY(mutex_);
  std::size_t tokens_ GUARDED_BY(mutex_) = 0;  // in the arena, waiting or running
};

// The version of oneTBB that runs.
std::string tbb_version();

}  // namespace tfilefs
