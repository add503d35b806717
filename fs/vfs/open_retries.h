// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
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
  // `generation`: the one that the path is in now.
  void expect(pid_t thread, InodeNumber, std::uint64_t generation);
  // Whether the thread is looking a path up once more, to open what it finds.
  bool awaits(pid_t thread);
  // Whether the thread comes back, with what was found since.
  bool take(pid_t thread, InodeNumber, std::uint64_t generation);

 private:
  using Clock = std::chrono::steady_clock;
  struct Expected {
    std::uint64_t generation = 0;
    Clock::time_point until;
  };
  Mutex mutex_;
  std::map<std::pair<pid_t, InodeNumber>, Expected> expected_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
