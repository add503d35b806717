// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tfile {

// A date that a server tells, in nanoseconds since the epoch; 0 for one that is none, or lies beyond what these can
// tell (the year 2262). Pure.
constexpr std::int64_t date_of_seconds(std::int64_t seconds) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return seconds > 0 && seconds < INT64_MAX / kSecond ? seconds * kSecond : 0;
}

}  // namespace tfile
