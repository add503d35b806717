// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "steady_clock.h"

namespace tfilefs {

// Stands until a test moves it. Those whose time has come are woken in the order of their times, each at its own time,
// and of equal times in the order in which they began to wait. Thread-safe; one thread moves it. Outlives all that
// wait.
class StandingClock final : public SteadyClock {
 public:
  Time now() const override;
  void wait_until(Condition& condition, Mutex& mutex, Time time) override REQUIRES(mutex);
  void sleep_for(Duration) override;
  std::function<void()> counted(std::function<void()> run) override;

  // Wakes, and does not wait for what those do.
  void move(Duration);
  // At each time at which someone is woken, and at the end, all counted threads come to rest first; then `at_each` is
  // called.
  void pass(Duration, const std::function<void()>& at_each = nullptr);
  // Until each counted thread waits by the clock, after a look at what it waits for, or has ended. (It may have been
  // woken otherwise and not run yet, so all are woken once.) The caller must hold nothing that they want.
  void come_to_rest();

  // Threads that wait by the clock, counted or not, and were not woken yet. await_waiting() blocks until there are so
  // many.
  std::size_t waiting() const;
  void await_waiting(std::size_t threads);
  std::optional<Time> next() const;  // the first time at which someone will be woken

 private:
  struct Waiter {
    Condition& condition;
    Mutex& mutex;
    Time due;
    std::uint64_t number;  // in the order in which they began to wait
    bool is_counted;
    bool woken = false;    // and has not come back from its wait yet
    bool is_held = false;  // by the thread that wakes it
  };
  struct Count;

  void wake(std::unique_lock<std::mutex>&, Waiter&);
  bool wake_next(std::unique_lock<std::mutex>&, Time until);
  std::size_t sleepers() const;
  bool is_at_rest() const;

  mutable std::mutex mutex_;  // after that of any waiter
  std::condition_variable changed_;
  Time now_ = Time() + std::chrono::hours(1000);  // Time() is "never" to some
  std::list<Waiter*> waiting_;                    // in the order of their numbers
  std::uint64_t last_number_ = 0;
  std::size_t counted_ = 0;  // threads
};

}  // namespace tfilefs
