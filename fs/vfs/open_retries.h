// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <utility>

#include "mutex.h"
#include "steady_clock.h"
#include "vfs/nodes/attributes.h"

namespace tfilefs {

// Threads whose open was answered with ESTALE, because the file had changed. The kernel then has the thread look its
// path up once more and open the result, and gives up if that is stale again. The result of that look-up is of a state
// after the call was made, so it may be opened however fast the file goes on changing. Thread-safe.
class OpenRetries {
 public:
  explicit OpenRetries(const SteadyClock& clock = SteadyClock::of_system()) : clock_(clock) {}

  // `generation`: the current one of the path.
  void expect(pid_t thread, InodeNumber, std::uint64_t generation);
  // Whether the thread is about to look a path up once more, to open the result.
  bool awaits(pid_t thread);
  // The thread's second look-up, which may have taken long, is answered now.
  void renew(pid_t thread);
  // Whether the thread opens a second time, with a result found since.
  bool take(pid_t thread, InodeNumber, std::uint64_t generation);

 private:
  struct Expected {
    std::uint64_t generation = 0;
    SteadyClock::Time until;
  };
  void forget_late() REQUIRES(mutex_);
  const SteadyClock& clock_;
  Mutex mutex_{"OpenRetries::mutex_"};
  std::map<std::pair<pid_t, InodeNumber>, Expected> expected_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
