// SPDX-License-Identifier: Apache-2.0
#include "container/space.h"

#include <gtest/gtest.h>

namespace tfile {
namespace {

using Ranges = std::vector<ByteRange>;

TEST(Space, TakesTheSmallestSegmentThatLeavesNothingOrRoomForAGap) {
  Space space(1000, {{100, 50}, {200, 30}, {300, 33}});
  EXPECT_EQ(space.take(30), (ByteRange{200, 30}));
  EXPECT_EQ(space.take(30), (ByteRange{100, 30}));  // the segment at 300 would leave 3 bytes
  EXPECT_EQ(space.take(30), (ByteRange{1000, 30}));
  EXPECT_EQ(space.listed(), (Ranges{{130, 20}, {300, 33}}));
  EXPECT_EQ(space.end(), 1030u);
}

// Freed by commit 1, listed by commit 2, written to by commit 3.
TEST(Space, WhatACommitFreesRestsForOneMore) {
  Space space(1000);
  EXPECT_TRUE(space.release({500, 100}));
  EXPECT_EQ(space.take(100).begin, 1000u);
  EXPECT_TRUE(space.listed().empty());
  space.committed(1100);

  EXPECT_EQ(space.take(100).begin, 1100u);
  EXPECT_EQ(space.listed(), (Ranges{{500, 100}}));
  EXPECT_EQ(space.unmarked(), (Ranges{{500, 100}}));
  space.committed(1200);

  EXPECT_TRUE(space.unmarked().empty());
  EXPECT_EQ(space.take(100).begin, 500u);
}

TEST(Space, WhatIsLeftOfASegmentNeedsAMarkOfItsOwn) {
  Space space(1000, {{100, 50}, {300, 50}});
  EXPECT_TRUE(space.unmarked().empty());
  const ByteRange taken = space.take(20);
  EXPECT_EQ(space.unmarked(), (Ranges{{120, 30}}));
  // The bytes of an abandoned plan overwrote the mark.
  space.give_back(taken);
  EXPECT_EQ(space.listed(), (Ranges{{100, 50}, {300, 50}}));
  EXPECT_EQ(space.unmarked(), (Ranges{{100, 50}}));
}

TEST(Space, GivenBackAtTheEndTheFileIsShortAgain) {
  Space space(1000);
  const ByteRange first = space.take(100), second = space.take(50);
  space.give_back(first);
  EXPECT_EQ(space.listed(), (Ranges{{1000, 100}}));
  space.give_back(second);
  EXPECT_EQ(space.end(), 1000u);
  EXPECT_TRUE(space.listed().empty());
}

TEST(Space, ReleasesNothingTwiceAndNothingThatIsNotInTheFile) {
  Space space(1000, {{100, 50}}, {{200, 50}});
  EXPECT_FALSE(space.release({120, 10}));
  EXPECT_FALSE(space.release({90, 20}));
  EXPECT_FALSE(space.release({240, 20}));
  EXPECT_FALSE(space.release({990, 20}));
  EXPECT_FALSE(space.release({2000, 20}));
  EXPECT_FALSE(space.release({400, 3}));
  EXPECT_TRUE(space.release({400, 100}));
  EXPECT_FALSE(space.release({450, 20}));
  EXPECT_FALSE(space.release({400, 100}));
  space.forget_released();
  EXPECT_TRUE(space.release({450, 20}));
}

TEST(Space, RecordsLieWhereNothingIsFree) {
  Space space(1000, {{100, 50}}, {{200, 50}});
  EXPECT_TRUE(space.is_taken({150, 50}));
  EXPECT_TRUE(space.is_taken({250, 750}));
  EXPECT_FALSE(space.is_taken({250, 751}));
  EXPECT_FALSE(space.is_taken({90, 20}));
  EXPECT_FALSE(space.is_taken({249, 2}));
  EXPECT_FALSE(space.is_taken({UINT64_MAX, 2}));
  EXPECT_TRUE(space.release({300, 50}));
  EXPECT_FALSE(space.is_taken({310, 10}));
  space.take(100);
  EXPECT_FALSE(space.is_taken({1000, 100}));  // not committed yet
}

TEST(Space, SegmentsThatAreNotBelievedStayInTheListUnused) {
  Space space(1000, {}, {{200, 50}});
  EXPECT_EQ(space.take(50).begin, 1000u);
  EXPECT_EQ(space.listed(), (Ranges{{200, 50}}));
  EXPECT_TRUE(space.unmarked().empty());
}

TEST(Space, ARecordThatMustNotCrossASectorHasAGapBeforeIt) {
  for (std::uint64_t end = 1000; end < 1600; ++end) {
    Space space(end);
    const ByteRange taken = space.take_in_one_sector(110, 50, 60);
    const std::uint64_t begin = taken.begin + 50;
    EXPECT_EQ(begin / 512, (begin + 59) / 512) << end;
    if (taken.begin == end) {
      EXPECT_TRUE(space.listed().empty());
      continue;
    }
    ASSERT_EQ(space.listed(), (Ranges{{end, taken.begin - end}}));
    EXPECT_GE(taken.begin - end, 4u);
  }
}

TEST(Space, BasketsNeverGoBackwardWithinACommit) {
  constexpr std::uint64_t kLarge = 4 << 20;
  Space space(100 << 20, {{1000, kLarge}, {20 << 20, kLarge}, {30 << 20, 5000}});
  std::uint64_t last = 0;
  for (int i = 0; i < 12; ++i) {
    const ByteRange taken = space.take_for_part(1'000'000, false);
    EXPECT_GT(taken.begin, last);
    last = taken.begin;
  }
  EXPECT_GE(last, std::uint64_t{100} << 20);
  space.committed(space.end());
  const std::uint64_t end = space.end();
  EXPECT_EQ(space.take_for_part(100, true).begin, end);
}

}  // namespace
}  // namespace tfile
