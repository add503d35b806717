// SPDX-License-Identifier: Apache-2.0
#include "fs/standing_clock.h"

#include <algorithm>
#include <utility>

namespace tfilefs {

namespace {
thread_local const StandingClock* counts_this_thread = nullptr;
}  // namespace

// A thread, from before it begins until it has ended, or could not be made.
struct StandingClock::Count {
  explicit Count(StandingClock& clock_) : clock(clock_) {
    const std::lock_guard lock(clock.mutex_);
    ++clock.counted_;
  }
  ~Count() {
    const std::lock_guard lock(clock.mutex_);
    --clock.counted_;
    clock.changed_.notify_all();
  }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;
  StandingClock& clock;
};

SteadyClock::Time StandingClock::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

std::function<void()> StandingClock::counted(std::function<void()> run) {
  return [this, run = std::move(run), count = std::make_shared<Count>(*this)]() mutable {
    counts_this_thread = this;
    run();
    counts_this_thread = nullptr;
    count.reset();
  };
}

void StandingClock::wait_until(Condition& condition, Mutex& mutex, Time time) {
  Waiter waiter{condition, mutex, time, 0, counts_this_thread == this};
  {
    const std::lock_guard lock(mutex_);
    if (time <= now_) return;
    waiter.number = ++last_number_;
    waiting_.push_back(&waiter);
  }
  changed_.notify_all();
  // Whoever wakes it takes `mutex`, which is held from before it is in the list until it waits: so no call is lost.
  condition.wait(mutex);
  std::unique_lock lock(mutex_);
  while (waiter.is_held) {  // it needs `mutex`; and after this returns, `mutex` and `condition` may end
    lock.unlock();
    mutex.unlock();
    lock.lock();
    while (waiter.is_held) changed_.wait(lock);
    lock.unlock();
    mutex.lock();
    lock.lock();
  }
  std::erase(waiting_, &waiter);
}

void StandingClock::sleep_for(Duration time) {
  Mutex mutex;
  Condition condition;
  const Time end = now() + time;
  const Lock lock(mutex);
  while (now() < end) wait_until(condition, mutex, end);
}

// Without the lock meanwhile: a waiter has its own mutex when it takes this one.
void StandingClock::wake(std::unique_lock<std::mutex>& lock, Waiter& waiter) {
  waiter.woken = waiter.is_held = true;
  lock.unlock();
  {
    const Lock at_rest(waiter.mutex);
    waiter.condition.notify_all();
  }
  lock.lock();
  waiter.is_held = false;
  changed_.notify_all();
}

// False if nobody is to be woken by then.
bool StandingClock::wake_next(std::unique_lock<std::mutex>& lock, Time until) {
  Waiter* first = nullptr;
  for (Waiter* const each : waiting_) {
    if (!each->woken && each->due <= until && (!first || each->due < first->due)) first = each;
  }
  if (!first) return false;
  now_ = std::max(now_, first->due);
  wake(lock, *first);
  return true;
}

void StandingClock::move(Duration time) {
  std::unique_lock lock(mutex_);
  const Time end = now_ + time;
  while (wake_next(lock, end)) continue;
  now_ = end;
}

void StandingClock::pass(Duration time, const std::function<void()>& at_each) {
  come_to_rest();  // a thread that has only begun waits from now on
  std::unique_lock lock(mutex_);
  const Time end = now_ + time;
  const auto rest = [&] {
    lock.unlock();
    come_to_rest();
    if (at_each) at_each();
    lock.lock();
  };
  for (;;) {
    const Time before = now_;
    if (!wake_next(lock, end)) break;
    while (now_ > before && wake_next(lock, now_)) continue;  // the others of that time
    rest();
  }
  now_ = end;
  rest();
}

bool StandingClock::is_at_rest() const {
  const auto is_waiting = [](const Waiter* each) { return each->is_counted && !each->woken; };
  return static_cast<std::size_t>(std::ranges::count_if(waiting_, is_waiting)) == counted_;
}

void StandingClock::come_to_rest() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_at_rest(); });
  const auto is_meant = [last = last_number_](const Waiter* each) {
    return each->is_counted && !each->woken && each->number <= last;
  };
  for (auto next = waiting_.end(); (next = std::ranges::find_if(waiting_, is_meant)) != waiting_.end();)
    wake(lock, **next);
  changed_.wait(lock, [this] { return is_at_rest(); });
}

void StandingClock::await_waiting(std::size_t threads) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return sleepers() >= threads; });
}

std::size_t StandingClock::sleepers() const {
  return static_cast<std::size_t>(std::ranges::count(waiting_, false, &Waiter::woken));
}

std::size_t StandingClock::waiting() const {
  const std::lock_guard lock(mutex_);
  return sleepers();
}

std::optional<SteadyClock::Time> StandingClock::next() const {
  const std::lock_guard lock(mutex_);
  std::optional<Time> first;
  for (const Waiter* const each : waiting_) {
    if (!each->woken && (!first || each->due < *first)) first = each->due;
  }
  return first;
}

}  // namespace tfilefs
