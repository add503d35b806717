// SPDX-License-Identifier: Apache-2.0
#include "cache/ahead/usage_history.h"

#include <gtest/gtest.h>

#include <random>

namespace tfilefs {
namespace {

using Streams = std::vector<tfile::StreamId>;

TEST(UsageHistory, WhatIsReadTogetherIsLearntInOnePart) {
  UsageHistory history(1000);
  for (const tfile::StreamId stream : {3u, 7u, 9u}) history.note(stream, 0, 0);
  EXPECT_TRUE(history.companions(3, 0, 0).empty());  // the present part does not count yet
  history.note(3, 1, 1);
  EXPECT_TRUE(history.companions(3, 1, 1).empty());  // may be chance
  history.note(7, 1, 1);
  EXPECT_EQ(history.companions(7, 1, 1), (Streams{3, 9}));
}

TEST(UsageHistory, WhatWasAlwaysReadTogetherNeedsNoSign) {
  UsageHistory history(1000);
  for (std::uint32_t part = 0; part < 4; ++part)
    for (const tfile::StreamId stream : {3u, 7u, 9u}) history.note(stream, part, part);
  history.note(3, 4, 4);
  EXPECT_EQ(history.companions(3, 4, 4), (Streams{7, 9}));
}

TEST(UsageHistory, AColumnNoLongerUsedDropsOut) {
  UsageHistory history(1000);
  for (std::uint32_t part = 0; part < 10; ++part) {
    history.note(1, part, part);
    if (part < 5) history.note(2, part, part);
  }
  history.note(1, 10, 10);
  EXPECT_TRUE(history.companions(1, 10, 10).empty());
}

TEST(UsageHistory, WhatIsReadRarelyIsNotFetchedWithTheSelection) {
  UsageHistory history(1000);
  for (std::uint32_t part = 0; part < 300; ++part) {
    history.note(0, part, part);  // the selection reads every entry of one column
    if (part % 100 == 50)
      for (const tfile::StreamId other : {1u, 2u}) history.note(other, part, part);
  }
  history.note(0, 300, 300);
  EXPECT_TRUE(history.companions(0, 300, 300).empty());
  history.note(1, 300, 300);  // but the other two are used together
  EXPECT_EQ(history.companions(1, 300, 300), (Streams{0, 2}));
}

TEST(UsageHistory, ColumnsReadOneAfterTheOtherAreNoCompanions) {
  UsageHistory history(1000);
  for (const tfile::StreamId stream : {0u, 1u})
    for (std::uint32_t part = 0; part < 100; ++part) history.note(stream, part, part);
  history.note(0, 0, 0);
  EXPECT_TRUE(history.companions(0, 0, 0).empty());
}

TEST(UsageHistory, ReadersOutOfStepAreStillTogether) {
  UsageHistory history(1000);
  for (std::uint32_t part = 0; part < 50; ++part) {
    history.note(0, part + 3, part + 3);
    history.note(1, part, part);
  }
  history.note(1, 50, 50);
  EXPECT_EQ(history.companions(1, 50, 50), Streams{0});
}

TEST(UsageHistory, ColumnsReadAtRandomAreNoCompanions) {
  UsageHistory history(8);
  std::minstd_rand random(1);
  std::size_t companions = 0;
  for (int read = 0; read < 10'000; ++read) {
    const auto stream = static_cast<tfile::StreamId>(random() % 1000);
    const auto part = static_cast<std::uint32_t>(random() % 8);
    history.note(stream, part, part);
    companions += history.companions(stream, part, part).size();
  }
  EXPECT_LT(companions, 500u);  // before: more than a million
}

}  // namespace
}  // namespace tfilefs
