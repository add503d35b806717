// SPDX-License-Identifier: Apache-2.0
#include "cli/duration.h"

#include <gtest/gtest.h>

#include <string>

namespace tfilefs {
namespace {

using std::chrono::milliseconds;

TEST(Duration, HasUnits) {
  const std::pair<const char*, std::int64_t> known[] = {
      {"0", 0},
      {"60", 60'000},
      {"1.5", 1500},
      {"0.25", 250},
      {"500ms", 500},
      {"5s", 5000},
      {"5 s", 5000},
      {"2sec", 2000},
      {"1.5min", 90'000},
      {"10m", 600'000},
      {"2 hours", 7'200'000},
      {"1h30m", 5'400'000},
      {"1h 30m", 5'400'000},
      {"1d", 86'400'000},
      {"1H", 3'600'000},
      {"1m1ms", 60'001},
      {"1000000000", 1'000'000'000'000},
  };
  for (const auto& [text, expected] : known) EXPECT_EQ(parse_duration(text), milliseconds(expected)) << text;
}

TEST(Duration, IsNothingElse) {
  for (const char* wrong : {"",
                            " ",
                            "s",
                            "-1",
                            "+1",
                            "1 ",
                            " 1",
                            "1  s",
                            "1h30",
                            "1 2",
                            "5x",
                            "5parsecs",
                            "nan",
                            "inf",
                            "1e3",
                            "0x10",
                            "1,5",
                            "1h 30m ",
                            "1s\n",
                            "9999999999999",
                            "30000000000000d"})
    EXPECT_FALSE(parse_duration(wrong)) << wrong;
  EXPECT_FALSE(parse_duration(std::string(10'000, '9')));
}

}  // namespace
}  // namespace tfilefs
