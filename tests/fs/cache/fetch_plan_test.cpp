// SPDX-License-Identifier: Apache-2.0
#include "cache/fetch_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace tfilefs {
namespace {

const tfile::Source* source(std::uintptr_t n) { return reinterpret_cast<const tfile::Source*>(n * 64); }

// With the same limits for all sources.
std::vector<FetchRange> planned(std::vector<FetchWish> wishes, const tfile::JoinLimits& limits,
                                std::uint64_t plan_max = UINT64_MAX) {
  return plan_fetch(
      std::move(wishes), [&](const tfile::Source&) { return limits; }, plan_max);
}

std::vector<std::size_t> ids_of(const FetchRange& range) {
  std::vector<std::size_t> ids;
  for (const FetchWish& wish : range.wishes) ids.push_back(wish.id);
  return ids;
}

TEST(FetchPlan, SortsAndMergesOverSmallGaps) {
  const auto plan =
      planned({{source(1), {300, 50}, 2}, {source(1), {100, 50}, 0}, {source(1), {160, 40}, 1}}, {.gap_max = 10});
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].range, (tfile::ByteRange{100, 100}));
  EXPECT_EQ(ids_of(plan[0]), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(plan[1].range, (tfile::ByteRange{300, 50}));
  EXPECT_EQ(planned_bytes(plan), 150u);
}

TEST(FetchPlan, KeepsSourcesApart) {
  const auto plan = planned({{source(2), {0, 10}, 0}, {source(1), {10, 10}, 1}, {source(2), {10, 10}, 2}}, {});
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(ids_of(plan[0]), (std::vector<std::size_t>{1}));
  EXPECT_EQ(ids_of(plan[1]), (std::vector<std::size_t>{0, 2}));
}

TEST(FetchPlan, OverlapsShareTheirBytes) {
  const auto plan = planned({{source(1), {0, 100}, 0}, {source(1), {20, 10}, 1}, {source(1), {90, 20}, 2}}, {});
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].range, (tfile::ByteRange{0, 110}));
}

TEST(FetchPlan, DoesNotGrowBeyondTheLimit) {
  std::vector<FetchWish> wishes;
  for (std::size_t i = 0; i < 10; ++i) wishes.push_back({source(1), {i * 100, 100}, i});
  const auto plan = planned(wishes, {.gap_max = 0, .range_max = 250});
  EXPECT_EQ(plan.size(), 5u);
  const auto large = planned({{source(1), {0, 1000}, 0}}, {.gap_max = 0, .range_max = 250});
  EXPECT_EQ(planned_bytes(large), 1000u);
}

TEST(FetchPlan, DoesNotReadMuchMoreThanIsWanted) {
  std::vector<FetchWish> wishes;
  for (std::size_t i = 0; i < 20; ++i) wishes.push_back({source(1), {i * 100'000, 1000}, i});
  EXPECT_EQ(planned(wishes, {.gap_max = 256 << 10}).size(), 20u);
  for (FetchWish& wish : wishes) wish.range.size = 60'000;
  EXPECT_EQ(planned(wishes, {.gap_max = 256 << 10}).size(), 1u);
  // Adjacent ranges at the beginning allow as many bytes of gaps, but only once.
  for (FetchWish& wish : wishes) wish.range.size = 20'000;
  wishes.push_back({source(1), {20'000, 60'000}, wishes.size()});
  EXPECT_LE(planned_bytes(planned(wishes, {.gap_max = 256 << 10})), 2u * 460'000);
}

TEST(FetchPlan, ReadsNoGapsWhereTheyWouldBeMostOfTooMuch) {
  std::vector<FetchWish> wishes;
  for (std::size_t i = 0; i < 100; ++i) wishes.push_back({source(1), {i * 10'000, 100}, i});
  EXPECT_EQ(planned_bytes(planned(wishes, {.gap_max = 16 << 10}, 1'000'000)), 990'100u);
  EXPECT_EQ(planned_bytes(planned(wishes, {.gap_max = 16 << 10}, 900'000)), 10'000u);
  // If most bytes are wanted, gaps hardly matter.
  for (FetchWish& wish : wishes) wish.range.size = 9'000;
  EXPECT_EQ(planned(wishes, {.gap_max = 16 << 10}, 100'000).size(), 1u);
}

// As of the pages of a list, which end inside an entry: each is wanted with the entries at both of its ends.
TEST(FetchPlan, WishesThatOverlapAreReadOnce) {
  std::vector<FetchWish> wishes;
  for (std::size_t i = 0; i < 10; ++i) wishes.push_back({source(1), {i * 100, 150}, i});
  const auto plan = planned(wishes, {.gap_max = 0, .gap_free = 0});
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].range, (tfile::ByteRange{0, 1050}));
  EXPECT_EQ(plan[0].wishes.size(), 10u);
}

TEST(FetchPlan, EachSourceHasItsLimits) {
  const std::vector<FetchWish> wishes{
      {source(1), {0, 10}, 0}, {source(1), {50, 10}, 1}, {source(2), {0, 10}, 2}, {source(2), {50, 10}, 3}};
  const auto plan = plan_fetch(wishes, [](const tfile::Source& of) {
    return tfile::JoinLimits{.gap_max = 100, .gap_free = &of == source(2) ? 100u : 0u};
  });
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan[2].range, (tfile::ByteRange{0, 60}));
}

TEST(FetchPlan, EveryWishLiesInsideItsRange) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<FetchWish> wishes;
    for (std::size_t i = 0; i < 30; ++i)
      wishes.push_back({source(1 + random() % 2), {random() % 5000, random() % 300}, i});
    const auto plan = planned(wishes, {.gap_max = random() % 100, .range_max = 1 + random() % 2000});
    std::vector<int> seen(wishes.size());
    for (const auto& range : plan)
      for (const std::size_t id : ids_of(range)) {
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
