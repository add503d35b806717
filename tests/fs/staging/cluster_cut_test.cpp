// SPDX-License-Identifier: Apache-2.0
#include "staging/cluster_cut.h"

#include <gtest/gtest.h>

#include <vector>

namespace tfilefs {
namespace {

BranchProgress::Time at(int seconds) { return BranchProgress::Time(std::chrono::seconds(seconds)); }

TEST(ClusterCut, ColumnsThatGrowTogetherAreInStep) {
  EXPECT_TRUE(in_step(std::vector<BranchProgress>{{250, at(1), at(10)}, {300, at(2), at(9)}}));
}

TEST(ClusterCut, ColumnsOneAfterTheOtherAreNot) {
  EXPECT_FALSE(in_step(std::vector<BranchProgress>{{1000, at(1), at(3)}, {1000, at(4), at(6)}}));
  EXPECT_FALSE(in_step({}));
}

}  // namespace
}  // namespace tfilefs
