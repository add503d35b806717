// SPDX-License-Identifier: Apache-2.0
#include "staging/cluster_cut.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tfilefs {
namespace {

using Time = BranchProgress::Time;

Time at(int seconds) { return Time(std::chrono::seconds(seconds)); }

TEST(ClusterCut, FirstClusterHasTheBytesAskedFor) {
  const std::vector<BranchSample> branches = {{4, 3}, {8, 3}};
  const ClusterSize size = first_cut(branches, {.bytes = 30'000'000});
  EXPECT_EQ(size.entries, 5'000'000);
  EXPECT_EQ(first_cut(branches, {.entries = 1000}).entries, 1000);
}

TEST(ClusterCut, BasketsShareTheMemoryByBytes) {
  const std::vector<BranchSample> branches = {{4, 3}, {8, 3}, {4, 0.1}};
  const ClusterSize size = first_cut(branches, {.bytes = 30'500'000}, 10'000'000);
  ASSERT_EQ(size.branches.size(), 3u);
  EXPECT_EQ(size.branches[0].bytes, 2'500'000 / 512 * 512);
  EXPECT_EQ(size.branches[1].bytes, 5'000'000 / 512 * 512);
  EXPECT_EQ(size.branches[2].bytes, size.branches[0].bytes);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& baskets = size.branches[i];
    EXPECT_LE(static_cast<double>(baskets.entries) * branches[i].raw, baskets.bytes);
    const auto count = (size.entries + baskets.entries - 1) / baskets.entries;
    EXPECT_GT(size.entries - (count - 1) * baskets.entries, baskets.entries * 9 / 10) << "the last is a stub";
  }
}

TEST(ClusterCut, BasketsAreAtMostTheClusterAndAtLeastAStep) {
  const std::vector<BranchSample> branches = {{4, 4}, {4000, 4000}, {0, 0}};
  const ClusterSize size = first_cut(branches, {.entries = 1000}, 100'000'000);
  EXPECT_EQ(size.branches[0].bytes, 4096);
  EXPECT_EQ(size.branches[0].entries, 1000);
  EXPECT_EQ(size.branches[1].bytes, 4'000'256);
  EXPECT_EQ(size.branches[2].bytes, 512);
  EXPECT_EQ(size.branches[2].entries, 1000);
}

// An entry larger than its branch's share is a basket of its own.
TEST(ClusterCut, HugeEntriesAreBasketsOfTheirOwn) {
  const std::vector<BranchSample> branches = {{5e9, 5e9}, {4, 4}};
  const ClusterSize size = first_cut(branches, {});
  EXPECT_EQ(size.entries, 1);
  for (const auto& baskets : size.branches) EXPECT_EQ(baskets.entries, 1);
}

TEST(ClusterCut, EntriesOfNothing) {
  const ClusterSize size = first_cut(std::vector<BranchSample>{{0, 0}}, {});
  EXPECT_GT(size.entries, 1ll << 50);
  EXPECT_TRUE(first_cut({}, {}).branches.empty());
}

TEST(ClusterCut, ColumnsThatGrowTogetherAreCutEarly) {
  const std::vector<BranchProgress> together = {{250, at(1), at(10)}, {300, at(2), at(9)}};
  EXPECT_TRUE(in_step(together));
  EXPECT_EQ(next_cut(together, 0, 100, false), (tfile::EntryRange{0, 100}));
  EXPECT_EQ(next_cut(together, 100, 100, false), (tfile::EntryRange{100, 200}));
  EXPECT_EQ(next_cut(together, 200, 100, false), std::nullopt);
  EXPECT_EQ(next_cut(together, 200, 100, true), (tfile::EntryRange{200, 250}));
  EXPECT_EQ(next_cut(together, 250, 100, true), std::nullopt);
}

TEST(ClusterCut, ColumnsOneAfterTheOtherWaitForTheWhole) {
  const std::vector<BranchProgress> one_by_one = {{1000, at(1), at(3)}, {1000, at(4), at(6)}};
  EXPECT_FALSE(in_step(one_by_one));
  EXPECT_EQ(next_cut(one_by_one, 0, 100, false), std::nullopt);
  EXPECT_EQ(next_cut(one_by_one, 0, 100, true), (tfile::EntryRange{0, 100}));
}

TEST(ClusterCut, UnknownClusterSizeIsAllThereIs) {
  const std::vector<BranchProgress> branches = {{10, at(1), at(2)}};
  EXPECT_EQ(next_cut(branches, 0, 0, false), std::nullopt);
  EXPECT_EQ(next_cut(branches, 0, 0, true), (tfile::EntryRange{0, 10}));
  EXPECT_EQ(next_cut({}, 0, 100, true), std::nullopt);
}

}  // namespace
}  // namespace tfilefs
