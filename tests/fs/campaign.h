// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace tfilefs {

// How long tests at random go on: TFILEFS_CRASH=long makes a hundred times as many, TFILEFS_CRASH_SEED repeats a run
// (tests/campaign.py).
struct Campaign {
  std::uint64_t rounds = 0, first_seed = 1;
};
inline Campaign campaign_of(std::uint64_t short_rounds) {
  const char* const length = std::getenv("TFILEFS_CRASH");
  const char* const seed = std::getenv("TFILEFS_CRASH_SEED");
  const bool is_long = length && std::string(length) == "long";
  return {short_rounds * (is_long ? 100 : 1), seed ? std::stoull(seed) : 1};
}

}  // namespace tfilefs
