// SPDX-License-Identifier: Apache-2.0
#include "view/friends/entry_runs.h"

#include <gtest/gtest.h>

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

TEST(EntryRuns, ByPosition) {
  EXPECT_EQ(EntryRuns::by_position(10, 0, 20).matched(), 10);
  EXPECT_EQ(EntryRuns::by_position(10, 0, 4).matched(), 4);
  const EntryRuns shifted = EntryRuns::by_position(10, 15, 20);
  EXPECT_EQ(shifted.matched(), 5);
  EXPECT_EQ(shifted.friend_entry(4), 19);
  EXPECT_EQ(shifted.friend_entry(5), -1);
  const EntryRuns none = EntryRuns::by_position(10, 20, 20);
  EXPECT_EQ(none.matched(), 0);
  EXPECT_EQ(none.friend_entry(0), -1);
  EXPECT_EQ(none.matched_before(3), 0);
  EXPECT_TRUE(none.runs().empty());
}

}  // namespace
}  // namespace tfilefs
