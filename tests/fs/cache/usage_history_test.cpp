// SPDX-License-Identifier: Apache-2.0
#include "cache/usage_history.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

using Streams = std::vector<tfile::StreamId>;

TEST(UsageHistory, WhatIsReadTogetherIsLearntInOnePart) {
  UsageHistory history;
  for (const tfile::StreamId stream : {3u, 7u, 9u}) history.note(stream, 0, 0);
  EXPECT_TRUE(history.companions(3, 0, 0).empty());  // the present part says nothing yet
  history.note(3, 1, 1);
  EXPECT_EQ(history.companions(3, 1, 1), (Streams{7, 9}));
}

TEST(UsageHistory, AColumnNoLongerUsedDropsOut) {
  UsageHistory history;
  for (std::uint32_t part = 0; part < 10; ++part) {
    history.note(1, part, part);
    if (part < 5) history.note(2, part, part);
  }
  history.note(1, 10, 10);
  EXPECT_TRUE(history.companions(1, 10, 10).empty());
}

TEST(UsageHistory, WhatIsReadRarelyIsNotFetchedWithTheSelection) {
  UsageHistory history;
  for (std::uint32_t part = 0; part < 300; ++part) {
    history.note(0, part, part);  // the selection reads every entry of one column
    if (part % 100 == 50)
      for (const tfile::StreamId other : {1u, 2u}) history.note(other, part, part);
  }
  history.note(0, 300, 300);
  EXPECT_TRUE(history.companions(0, 300, 300).empty());
  history.note(1, 300, 300);  // but the others come together
  EXPECT_EQ(history.companions(1, 300, 300), (Streams{0, 2}));
}

TEST(UsageHistory, ColumnsReadOneAfterTheOtherAreNoCompanions) {
  UsageHistory history;
  for (const tfile::StreamId stream : {0u, 1u})
    for (std::uint32_t part = 0; part < 100; ++part) history.note(stream, part, part);
  history.note(0, 0, 0);
  EXPECT_TRUE(history.companions(0, 0, 0).empty());
}

TEST(UsageHistory, ReadersOutOfStepAreStillTogether) {
  UsageHistory history;
  for (std::uint32_t part = 0; part < 50; ++part) {
    history.note(0, part + 3, part + 3);
    history.note(1, part, part);
  }
  history.note(1, 50, 50);
  EXPECT_EQ(history.companions(1, 50, 50), Streams{0});
}

}  // namespace
}  // namespace tfilefs
