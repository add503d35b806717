// SPDX-License-Identifier: Apache-2.0
#include "remote/server/line_speed.h"

#include <gtest/gtest.h>

#include <vector>

namespace tfile {
namespace {

using std::chrono::milliseconds;

struct Line {
  LineSpeed speed;
  LineSpeed::Time now{};
  // One request that takes so long.
  void ask(milliseconds time, std::uint64_t bytes) {
    const auto sent = speed.sent(now);
    now += time;
    speed.answered(now, sent, bytes);
  }
};

TEST(LineSpeed, AGuessGivesWayToTheFirstMeasurement) {
  Line line;
  line.speed.guess_delay(milliseconds(30));
  EXPECT_EQ(line.speed.delay(), milliseconds(30));
  line.ask(milliseconds(80), 1000);
  EXPECT_EQ(line.speed.delay(), milliseconds(80));
  line.speed.guess_delay(milliseconds(30));
  EXPECT_EQ(line.speed.delay(), milliseconds(80));
}

TEST(LineSpeed, TheSmallestDelayIsForgottenSlowly) {
  Line line;
  for (const int time : {90, 80, 200, 85}) line.ask(milliseconds(time), 1000);
  EXPECT_GT(line.speed.delay(), milliseconds(80));
  EXPECT_LT(line.speed.delay(), milliseconds(90));
  for (int i = 0; i < 100; ++i) line.ask(milliseconds(200), 1000);
  EXPECT_GT(line.speed.delay(), milliseconds(195));
  line.ask(milliseconds(80), 1000);
  EXPECT_EQ(line.speed.delay(), milliseconds(80));
}

TEST(LineSpeed, WhatWaitsBehindOthersTellsNoDelay) {
  Line line;
  line.ask(milliseconds(10), 1000);
  const auto first = line.speed.sent(line.now), second = line.speed.sent(line.now);
  line.now += milliseconds(2000);
  line.speed.answered(line.now, first, 8 << 20);
  line.now += milliseconds(5);
  line.speed.answered(line.now, second, 10);
  EXPECT_EQ(line.speed.delay(), milliseconds(10));
}

TEST(LineSpeed, RateIsThatOfAllRequestsTogether) {
  Line line;
  line.ask(milliseconds(100), 1000);
  std::vector<LineSpeed::Sent> sent;
  for (int i = 0; i < 10; ++i) sent.push_back(line.speed.sent(line.now));
  line.now += milliseconds(100);
  for (const auto& each : sent) {
    line.now += milliseconds(10);
    line.speed.answered(line.now, each, 200'000);
  }
  EXPECT_NEAR(static_cast<double>(line.speed.bytes_per_second()), 20e6, 0.1e6);
}

TEST(LineSpeed, SmallOrFailedRequestsTellNoRate) {
  Line line;
  const auto guess = line.speed.bytes_per_second();
  line.ask(milliseconds(100), 1000);
  (void)line.speed.sent(line.now);
  line.now += milliseconds(60'000);
  line.speed.failed();
  EXPECT_EQ(line.speed.bytes_per_second(), guess);
  line.ask(milliseconds(200), 10'000'000);
  EXPECT_NEAR(static_cast<double>(line.speed.bytes_per_second()), 100e6, 1e6);
}

TEST(LineSpeed, ALineThatIsNeverIdleIsMeasuredAsWell) {
  Line line;
  line.ask(milliseconds(1), 1000);
  auto before = line.speed.sent(line.now);
  for (int i = 0; i < 30; ++i) {
    const auto next = line.speed.sent(line.now);
    line.now += milliseconds(100);
    line.speed.answered(line.now, before, 500'000);
    before = next;
  }
  EXPECT_NEAR(static_cast<double>(line.speed.bytes_per_second()), 5e6, 0.1e6);
}

}  // namespace
}  // namespace tfile
