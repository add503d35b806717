// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "staging/commit/table_progress.h"

namespace tfilefs {
namespace {

FieldProgress::Time at(int seconds) { return FieldProgress::Time(std::chrono::seconds(seconds)); }

TEST(FieldProgress, ColumnsThatGrowTogetherAreInStep) {
  EXPECT_TRUE(in_step(std::vector<FieldProgress>{{250, at(1), at(10)}, {300, at(2), at(9)}}));
}

TEST(FieldProgress, ColumnsOneAfterTheOtherAreNot) {
  EXPECT_FALSE(in_step(std::vector<FieldProgress>{{1000, at(1), at(3)}, {1000, at(4), at(6)}}));
  EXPECT_FALSE(in_step({}));
}

}  // namespace
}  // namespace tfilefs
