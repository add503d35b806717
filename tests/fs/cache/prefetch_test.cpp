// SPDX-License-Identifier: Apache-2.0
#include "cache/ahead/prefetch.h"

#include <gtest/gtest.h>

#include <random>

namespace tfilefs {
namespace {

constexpr std::uint64_t kMax = 8 << 20;

TEST(SequenceDetector, OpensItsWindowAlongARun) {
  SequenceDetector detector;
  std::uint64_t offset = 1 << 20, ahead = 0;
  for (int i = 0; i < 100; ++i, offset += 128 << 10) ahead = detector.observe(offset, 128 << 10, kMax).ahead;
  EXPECT_EQ(ahead, kMax);
}

TEST(SequenceDetector, ReadingFromTheStartIsARunAtOnce) {
  SequenceDetector detector;
  EXPECT_GT(detector.observe(0, 128 << 10, kMax).ahead, 0u);
}

TEST(SequenceDetector, LookingAtAHeaderIsNot) {
  SequenceDetector detector;
  EXPECT_EQ(detector.observe(0, 4096, kMax).ahead, 0u);
}

TEST(SequenceDetector, RandomReadsAreNot) {
  SequenceDetector detector;
  std::mt19937 random(5);
  int advised = 0;
  for (int i = 0; i < 1000; ++i) advised += detector.observe(random() % 20'000 * 4096, 4096, kMax).ahead > 0;
  EXPECT_LT(advised, 5);
}

TEST(SequenceDetector, NeighboursMayComeInEitherOrder) {
  SequenceDetector detector;
  std::uint64_t ahead = 0;
  for (std::uint64_t pair = 8; pair < 60; pair += 2) {
    detector.observe((pair + 1) << 17, 1 << 17, kMax);
    ahead = detector.observe(pair << 17, 1 << 17, kMax).ahead;
  }
  EXPECT_EQ(ahead, kMax);
}

TEST(SequenceDetector, FollowsSeveralReaders) {
  SequenceDetector detector;
  std::uint64_t ahead[3] = {};
  for (std::uint64_t i = 0; i < 100; ++i)
    for (std::uint64_t reader = 0; reader < 3; ++reader)
      ahead[reader] = detector.observe((reader * 1000 + i + 1) << 17, 1 << 17, kMax).ahead;
  for (const std::uint64_t a : ahead) EXPECT_EQ(a, kMax);
}

TEST(SequenceDetector, ReadingDownwardIsARunToo) {
  SequenceDetector detector;
  SequenceDetector::Advice advice;
  for (std::uint64_t i = 100; i > 40; --i) advice = detector.observe(i << 17, 1 << 17, kMax);
  EXPECT_EQ(advice.ahead, kMax);
  EXPECT_EQ(advice.step, -1);
}

TEST(SequenceDetector, WhoTurnsRoundIsFollowed) {
  SequenceDetector detector;
  SequenceDetector::Advice advice;
  for (std::uint64_t i = 100; i > 80; --i) advice = detector.observe(i << 17, 1 << 17, kMax);
  ASSERT_EQ(advice.step, -1);
  for (std::uint64_t i = 200; i < 240; ++i) advice = detector.observe(i << 17, 1 << 17, kMax);
  EXPECT_EQ(advice.step, 0);
  EXPECT_EQ(advice.ahead, kMax);
}

TEST(SequenceDetector, EqualStepsAreFollowedEitherWay) {
  for (const std::int64_t step : {std::int64_t{1} << 20, -(std::int64_t{1} << 20)}) {
    SequenceDetector detector;
    SequenceDetector::Advice advice;
    std::int64_t at = std::int64_t{1} << 30;
    for (int i = 0; i < 20; ++i, at += step) advice = detector.observe(static_cast<std::uint64_t>(at), 4096, kMax);
    EXPECT_EQ(advice.step, step);
    EXPECT_EQ(advice.ahead, 64u * 4096);
  }
}

}  // namespace
}  // namespace tfilefs
