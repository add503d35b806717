// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "tfile/request.h"

namespace tfile {
namespace {

// The sizes of the groups that are read as one.
std::vector<std::size_t> groups(std::span<const ByteRange> ranges, const JoinLimits& limits) {
  std::vector<std::size_t> sizes;
  for (; !ranges.empty(); ranges = ranges.subspan(sizes.back()))
    sizes.push_back(parts_of_range(ranges, limits, [](ByteRange range) { return range; }).size());
  return sizes;
}

using Sizes = std::vector<std::size_t>;

TEST(JoinedRange, GapsAreReadThroughUpToALimit) {
  const std::vector<ByteRange> ranges{{0, 10}, {20, 10}, {41, 10}, {51, 0}, {61, 1}};
  EXPECT_EQ(groups(ranges, {.gap_max = 10}), (Sizes{2, 3}));
  EXPECT_EQ(groups(ranges, {.gap_max = 9}), (Sizes{1, 1, 2, 1}));
  EXPECT_EQ(groups(ranges, {}), (Sizes{1, 1, 2, 1}));
}

TEST(JoinedRange, OneIsNotJoinedBeyondItsLimit) {
  const std::vector<ByteRange> ranges{{0, 10}, {10, 10}, {20, 10}, {30, 100}, {40, 10}, {125, 10}};
  EXPECT_EQ(groups(ranges, {.range_max = 20}), (Sizes{2, 1, 2, 1})) << "what lies inside of another costs nothing";
}

TEST(JoinedRange, LargerGapsAreReadThroughIfMostIsWanted) {
  const std::vector<ByteRange> ranges{{0, 10}, {30, 10}, {60, 10}, {200, 200}};
  EXPECT_EQ(groups(ranges, {.gap_max = 200, .gap_free = 0}), (Sizes{2, 2}));
  EXPECT_EQ(groups(ranges, {.gap_max = 200, .gap_free = 20}), (Sizes{4}));
  EXPECT_EQ(groups(ranges, {.gap_max = 129, .gap_free = 20}), (Sizes{3, 1}));
}

}  // namespace
}  // namespace tfile
