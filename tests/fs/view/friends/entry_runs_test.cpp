// SPDX-License-Identifier: Apache-2.0
#include "view/friends/entry_runs.h"

#include <gtest/gtest.h>

#include <vector>

namespace tfilefs {
namespace {

TEST(EntryRuns, WhatFollowsIsOneRun) {
  EntryRuns runs(10);
  runs.add(1, 5);
  runs.add(2, 6);
  runs.add(4, 7);  // behind a gap in the table
  runs.add(5, 9);  // behind one in the friend
  runs.add(6, 2);
  ASSERT_EQ(runs.runs().size(), 4u);
  EXPECT_EQ(runs.count(0), 2);
  EXPECT_EQ(runs.count(3), 1);
  EXPECT_EQ(runs.matched(), 5);
  const std::int64_t entries[] = {-1, 5, 6, -1, 7, 9, 2, -1, -1, -1};
  const std::int64_t before[] = {0, 0, 1, 2, 2, 3, 4, 5, 5, 5, 5};
  for (std::int64_t i = 0; i < 10; ++i) EXPECT_EQ(runs.friend_entry(i), entries[i]) << i;
  for (std::int64_t i = 0; i <= 10; ++i) EXPECT_EQ(runs.matched_before(i), before[i]) << i;
  const std::size_t run_of[] = {0, 0, 1, 2, 3};
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(runs.run_of(i), run_of[i]) << i;
}

EntryRuns placed(std::vector<EntryPart> parts) { return EntryRuns::by_position(10, parts); }

TEST(EntryRuns, ByPosition) {
  EXPECT_EQ(placed({{0, 0, 20}}).matched(), 10);
  EXPECT_EQ(placed({{0, 0, 4}}).matched(), 4);
  const EntryRuns shifted = placed({{0, 15, 5}});
  EXPECT_EQ(shifted.matched(), 5);
  EXPECT_EQ(shifted.friend_entry(4), 19);
  EXPECT_EQ(shifted.friend_entry(5), -1);
  const EntryRuns none = placed({{0, 20, 0}});
  EXPECT_EQ(none.matched(), 0);
  EXPECT_EQ(none.friend_entry(0), -1);
  EXPECT_EQ(none.matched_before(3), 0);
  EXPECT_TRUE(none.runs().empty());
  EXPECT_FALSE(none.has_gap());
}

TEST(EntryRuns, ByPositionInParts) {
  const EntryRuns equal = placed({{0, 0, 3}, {3, 3, 0}, {3, 3, 7}});
  EXPECT_EQ(equal.runs().size(), 1u);
  EXPECT_EQ(equal.matched(), 10);
  const EntryRuns longer = placed({{0, 0, 5}, {3, 5, 9}});  // entries 3 and 4 of the friend belong to none
  EXPECT_EQ(longer.friend_entry(2), 2);
  EXPECT_EQ(longer.friend_entry(3), 5);
  EXPECT_EQ(longer.matched(), 10);
  EXPECT_FALSE(longer.has_gap());
  EXPECT_FALSE(placed({{0, 0, 3}, {3, 3, 2}}).has_gap());
  const EntryRuns shorter = placed({{0, 0, 2}, {3, 2, 7}});
  EXPECT_EQ(shorter.friend_entry(2), -1);
  EXPECT_EQ(shorter.friend_entry(3), 2);
  EXPECT_TRUE(shorter.has_gap());
  EXPECT_TRUE(placed({{0, 0, 0}, {3, 0, 7}}).has_gap());
}

}  // namespace
}  // namespace tfilefs
