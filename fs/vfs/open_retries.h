// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "mutex.h"
#include "vfs/attributes.h"

namespace tfilefs {

// Threads that were told that what they open has changed. The kernel has each of them look its path up once more and
// open what it finds, and gives up if that has changed again: what it finds then is of a state after the call was made,
// and so good enough, however fast the file goes on changing. Thread-safe.
class OpenRetries {
 public:
  using Clock = std::chrono::steady_clock;
  explicit OpenRetries(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  // `generation`: the one that the path is in now.
  void expect(pid_t thread, InodeNumber, std::uint64_t generation);
  // Whether the thread is looking a path up once more, to open what it finds.
  bool awaits(pid_t thread);
  // The thread is told what it looked up once more, which may have taken long.
  void renew(pid_t thread);
  // Whether the thread comes back, with what was found since.
  bool take(pid_t thread, InodeNumber, std::uint64_t generation);

 private:
  struct Expected {
    std::uint64_t generation = 0;
    Clock::time_point until;
  };
  const std::function<Clock::time_point()> now_;
  Mutex mutex_;
  std::map<std::pair<pid_t, InodeNumber>, Expected> expected_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
