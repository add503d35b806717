// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

namespace tfilefs {

// The time of day, as in the timestamps of files. Any thread.
inline timespec wall_clock() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

inline constexpr std::int64_t kNanoseconds = 1'000'000'000;  // in a second

// Since the epoch. A time that is further away than 292 years has none.
inline std::int64_t nanoseconds_of(const timespec& time) { return time.tv_sec * kNanoseconds + time.tv_nsec; }

}  // namespace tfilefs
