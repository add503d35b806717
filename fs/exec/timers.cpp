// SPDX-License-Identifier: Apache-2.0
#include "exec/timers.h"

#include <algorithm>
#include <utility>

#include "tfile/check.h"

namespace tfilefs {

namespace {

using Clock = std::chrono::steady_clock;

// A function may be called an eighth of its time late, but no more than this: where thousands wait, many are called at
// once.
constexpr Clock::duration kLateMost = std::chrono::milliseconds(10);

Clock::time_point rounded_up(Clock::time_point time, Clock::duration late) {
  const Clock::duration step = std::min(late, kLateMost);
  const Clock::duration over = step.count() > 0 ? time.time_since_epoch() % step : Clock::duration();
  return over.count() > 0 ? time + (step - over) : time;
}

}  // namespace

Timers::Timers() : thread_([this] { run(); }) {}

Timers::~Timers() { stop(); }

void Timers::after(std::chrono::milliseconds time, std::function<void()> call) {
  bool is_first = false;
  {
    const Lock lock(mutex_);
    if (stopping_) return;
    const auto added = waiting_.emplace(rounded_up(Clock::now() + time, Clock::duration(time) / 8), std::move(call));
    is_first = added == waiting_.begin();
  }
  if (is_first) changed_.notify_all();
}

void Timers::stop() {
  std::multimap<Clock::time_point, std::function<void()>> dropped;  // destroyed after the lock is released, with all
                                                                    // that they own
  {
    const Lock lock(mutex_);
    stopping_ = true;
    dropped.swap(waiting_);
  }
  changed_.notify_all();
  TFILE_DCHECK(thread_.get_id() != std::this_thread::get_id());
  if (thread_.joinable()) thread_.join();
}

void Timers::run() {
  for (;;) {
    std::function<void()> call;
    {
      const Lock lock(mutex_);
      while (!stopping_ && waiting_.empty()) changed_.wait(mutex_);
      if (stopping_) return;
      const auto first = waiting_.begin();
      const auto now = Clock::now();
      if (first->first > now) {
        changed_.wait_for(mutex_, first->first - now);
        continue;
      }
      call = std::move(first->second);
      waiting_.erase(first);
    }
    call();
  }
}

}  // namespace tfilefs
