// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include "mutex.h"

namespace tfilefs {

// A thread that calls functions at given times. They must be short and wait for nothing. Thread-safe.
class Timers {
 public:
  Timers();
  ~Timers();  // as stop()

  // Calls the function when that time has passed, up to an eighth of it later (10 ms at most), on the thread of the
  // timers. After stop() it is dropped.
  void after(std::chrono::milliseconds, std::function<void()>) EXCLUDES(mutex_);

  // Drops the functions that were not called yet, and joins the thread. Must not be called from one of them.
  void stop() EXCLUDES(mutex_);

 private:
  using Clock = std::chrono::steady_clock;
  void run() EXCLUDES(mutex_);

  Mutex mutex_{"Timers::mutex_"};
  Condition changed_;
  std::multimap<Clock::time_point, std::function<void()>> waiting_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tfilefs
