// SPDX-License-Identifier: Apache-2.0
#include "cache/fetch_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace tfilefs {
namespace {

const tfile::Source* source(std::uintptr_t n) { return reinterpret_cast<const tfile::Source*>(n * 64); }

TEST(FetchPlan, SortsAndMergesOverSmallGaps) {
  const auto plan =
      plan_fetch({{source(1), {300, 50}, 2}, {source(1), {100, 50}, 0}, {source(1), {160, 40}, 1}}, {.gap_max = 10});
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].range, (tfile::ByteRange{100, 100}));
  EXPECT_EQ(plan[0].ids, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(plan[1].range, (tfile::ByteRange{300, 50}));
  EXPECT_EQ(planned_bytes(plan), 150u);
}

TEST(FetchPlan, KeepsSourcesApart) {
  const auto plan = plan_fetch({{source(2), {0, 10}, 0}, {source(1), {10, 10}, 1}, {source(2), {10, 10}, 2}}, {});
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].ids, (std::vector<std::size_t>{1}));
  EXPECT_EQ(plan[1].ids, (std::vector<std::size_t>{0, 2}));
}

TEST(FetchPlan, OverlapsShareTheirBytes) {
  const auto plan = plan_fetch({{source(1), {0, 100}, 0}, {source(1), {20, 10}, 1}, {source(1), {90, 20}, 2}}, {});
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].range, (tfile::ByteRange{0, 110}));
}

TEST(FetchPlan, DoesNotGrowBeyondTheLimit) {
  std::vector<FetchWish> wishes;
  for (std::size_t i = 0; i < 10; ++i) wishes.push_back({source(1), {i * 100, 100}, i});
  const auto plan = plan_fetch(wishes, {.gap_max = 0, .range_max = 250});
  EXPECT_EQ(plan.size(), 5u);
  const auto large = plan_fetch({{source(1), {0, 1000}, 0}}, {.gap_max = 0, .range_max = 250});
  EXPECT_EQ(planned_bytes(large), 1000u);
}

TEST(FetchPlan, DoesNotReadMuchMoreThanIsWanted) {
  std::vector<FetchWish> wishes;
  for (std::size_t i = 0; i < 20; ++i) wishes.push_back({source(1), {i * 100'000, 1000}, i});
  EXPECT_EQ(plan_fetch(wishes, {.gap_max = 256 << 10}).size(), 20u);
  for (FetchWish& wish : wishes) wish.range.size = 60'000;
  EXPECT_EQ(plan_fetch(wishes, {.gap_max = 256 << 10}).size(), 1u);
  // Adjacent ranges at the beginning allow as many bytes of gaps, but only once.
  for (FetchWish& wish : wishes) wish.range.size = 20'000;
  wishes.push_back({source(1), {20'000, 60'000}, wishes.size()});
  EXPECT_LE(planned_bytes(plan_fetch(wishes, {.gap_max = 256 << 10})), 2u * 460'000);
}

TEST(FetchPlan, ReadsNoGapsWhereTheyWouldBeMostOfTooMuch) {
  std::vector<FetchWish> wishes;
  for (std::size_t i = 0; i < 100; ++i) wishes.push_back({source(1), {i * 10'000, 100}, i});
  EXPECT_EQ(planned_bytes(plan_fetch(wishes, {.gap_max = 16 << 10, .plan_max = 1'000'000})), 990'100u);
  EXPECT_EQ(planned_bytes(plan_fetch(wishes, {.gap_max = 16 << 10, .plan_max = 900'000})), 10'000u);
  // If most bytes are wanted, gaps hardly matter.
  for (FetchWish& wish : wishes) wish.range.size = 9'000;
  EXPECT_EQ(plan_fetch(wishes, {.gap_max = 16 << 10, .plan_max = 100'000}).size(), 1u);
}

TEST(FetchPlan, EveryWishLiesInsideItsRange) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<FetchWish> wishes;
    for (std::size_t i = 0; i < 30; ++i)
      wishes.push_back({source(1 + random() % 2), {random() % 5000, random() % 300}, i});
    const auto plan = plan_fetch(wishes, {.gap_max = random() % 100, .range_max = 1 + random() % 2000});
    std::vector<int> seen(wishes.size());
    for (const auto& range : plan)
      for (const std::size_t id : range.ids) {
        ++seen[id];
        EXPECT_EQ(range.source, wishes[id].source);
        EXPECT_LE(range.range.begin, wishes[id].range.begin);
        EXPECT_GE(range.range.end(), wishes[id].range.end());
      }
    for (const int n : seen) EXPECT_EQ(n, 1);
  }
}

}  // namespace
}  // namespace tfilefs
