// SPDX-License-Identifier: Apache-2.0
#include "tree/read/cluster_boundaries.h"

#include <gtest/gtest.h>

namespace tfile {
namespace {

using EntryNumbers = std::vector<std::int64_t>;

void add_branch(TreeRecord& tree, EntryNumbers basket_entry) {
  BranchRecord branch;
  branch.baskets.seek.resize(basket_entry.size() - 1, 1000);
  branch.baskets.nbytes.resize(basket_entry.size() - 1, 100);
  branch.baskets.entry = std::make_shared<const EntryNumbers>(std::move(basket_entry));
  tree.branches.push_back(std::move(branch));
}

TEST(ClusterBoundaries, FollowAutoFlushAndRanges) {
  TreeRecord tree;
  tree.entries = 25;
  tree.auto_flush = 10;
  add_branch(tree, {0, 5, 10, 15, 20, 25});
  EXPECT_EQ(cluster_boundaries(tree), (EntryNumbers{0, 10, 20, 25}));
  tree.cluster_range_end = {7};
  tree.cluster_size = {4};
  EXPECT_EQ(cluster_boundaries(tree), (EntryNumbers{0, 4, 8, 18, 25}));
  tree.cluster_size = {0};
  EXPECT_EQ(cluster_boundaries(tree), (EntryNumbers{0, 8, 18, 25}));
}

TEST(ClusterBoundaries, AreWhereAllBasketsBeginOtherwise) {
  TreeRecord tree;
  tree.entries = 30;
  tree.auto_flush = -30'000'000;
  EXPECT_EQ(cluster_boundaries(tree), EntryNumbers{});
  add_branch(tree, {0, 10, 20, 30});
  add_branch(tree, {0, 5, 20, 25, 30});
  EXPECT_EQ(cluster_boundaries(tree), (EntryNumbers{0, 20, 30}));
}

// A tree of 2^60 entries in clusters of one entry, in a file of a few kilobytes.
TEST(ClusterBoundaries, MoreThanThereCanBeAreNotBelieved) {
  TreeRecord tree;
  tree.auto_flush = 1;
  add_branch(tree, {0, 100});
  tree.entries = std::int64_t{1} << 60;
  EXPECT_EQ(cluster_boundaries(tree), (EntryNumbers{0, 100, tree.entries}));
  tree.cluster_range_end = {INT64_MAX, INT64_MIN};
  tree.cluster_size = {1, INT64_MIN};
  EXPECT_EQ(cluster_boundaries(tree), (EntryNumbers{0, 100, tree.entries}));
  for (const std::int64_t entries : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {
    tree.entries = entries;
    EXPECT_LE(cluster_boundaries(tree).size(), 3u);
  }
}

}  // namespace
}  // namespace tfile
