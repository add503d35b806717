// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "cache/task_queue.h"
#include "mutex.h"

namespace tfilefs {

// The oneTBB arena in which chunks are decoded (and what they complete is answered). Tasks never block. The arena
// holds only tokens; the tasks themselves wait in a queue of two classes, so that a reader's chunk overtakes prefetch.
class Decoder {
 public:
  explicit Decoder(unsigned threads);
  ~Decoder();  // as stop()

  void run(std::function<void()> task, Urgency, const void* owner = nullptr);
  void promote(const void* owner);

  // Waits until no task is left, those included that tasks submit.
  void stop();

 private:
  void run_one();

  struct Arena;  // oneTBB stays in decoder.cpp
  std::unique_ptr<Arena> arena_;
  Mutex mutex_;
  Condition idle_;
  TaskQueue queue_ GUARDED_BY(mutex_);
  std::size_t tokens_ GUARDED_BY(mutex_) = 0;  // in the arena, waiting or running
};

}  // namespace tfilefs
