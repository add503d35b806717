// SPDX-License-Identifier: Apache-2.0
#include "cache/prefetch.h"

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

}  // namespace
}  // namespace tfilefs
