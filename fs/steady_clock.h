// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "mutex.h"

namespace tfilefs {

// The clock that never goes back, and waits by it: of the side that writes. A test puts another one in its place
// (docs/development/building.md). Thread-safe.
class SteadyClock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  virtual ~SteadyClock() = default;
  virtual Time now() const { return std::chrono::steady_clock::now(); }
  // As Condition::wait_until: use in a loop over its condition.
  virtual void wait_until(Condition& condition, Mutex& mutex, Time time) REQUIRES(mutex) {
    condition.wait_until(mutex, time);
  }
  virtual void sleep_for(Duration time) { std::this_thread::sleep_for(time); }
  // Marks what a thread runs that waits by this clock all its life: so another clock knows when all of them wait.
  virtual std::function<void()> counted(std::function<void()> run) { return run; }

  static SteadyClock& of_system() {
    static SteadyClock clock;
    return clock;
  }
};

}  // namespace tfilefs
