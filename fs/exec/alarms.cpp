// SPDX-License-Identifier: Apache-2.0
#include "exec/alarms.h"

#include <utility>

#include "tfile/check.h"

namespace tfilefs {

Alarms::Alarms() : thread_([this] { run(); }) {}

Alarms::~Alarms() { stop(); }

void Alarms::after(std::chrono::milliseconds time, std::function<void()> call) {
  {
    const Lock lock(mutex_);
    if (stopping_) return;
    waiting_.emplace(Clock::now() + time, std::move(call));
  }
  changed_.notify_all();
}

void Alarms::stop() {
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

void Alarms::run() {
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
