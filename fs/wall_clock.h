// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

namespace tfilefs {

// The time of day, as in the timestamps of files. Any thread.
inline timespec wall_clock() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

}  // namespace tfilefs
