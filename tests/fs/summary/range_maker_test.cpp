// SPDX-License-Identifier: Apache-2.0
#include "summary/range_maker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace tfilefs {
namespace {

using Bounds = std::vector<std::int64_t>;

// Of values that come some at a time.
template <class T>
GroupRanges ranges_of(tfile::Dtype dtype, const std::vector<T>& values, Bounds bounds, std::size_t piece) {
  RangeMaker maker(dtype, std::move(bounds));
  const auto all = std::as_bytes(std::span(values));
  for (std::size_t at = 0; at < all.size(); at += piece * sizeof(T))
    maker.add(all.subspan(at, std::min(piece * sizeof(T), all.size() - at)));
  return maker.take();
}

template <class T>
std::vector<T> ends_of(const ValueRange& range) {
  if (!range.is_known) return {};
  return {std::bit_cast<T>(range.least), std::bit_cast<T>(range.most)};
}

TEST(RangeMaker, EachGroupHasItsOwnWhereverPiecesEnd) {
  const std::vector<std::int32_t> values{5, -7, 3, 100, 2, 2, -1, 0, 9};
  for (std::size_t piece = 1; piece <= values.size(); ++piece) {
    const GroupRanges made = ranges_of(tfile::Dtype::i4, values, {0, 3, 3, 4, 8}, piece);
    EXPECT_EQ(made.bounds, (Bounds{0, 3, 3, 4, 8}));
    ASSERT_EQ(made.groups.size(), 4u);
    EXPECT_EQ(ends_of<std::int64_t>(made.groups[0]), (std::vector<std::int64_t>{-7, 5}));
    EXPECT_FALSE(made.groups[1].is_known) << "it has no values";
    EXPECT_EQ(ends_of<std::int64_t>(made.groups[2]), (std::vector<std::int64_t>{100, 100}));
    EXPECT_EQ(ends_of<std::int64_t>(made.groups[3]), (std::vector<std::int64_t>{-1, 2})) << "the 9 is behind it";
  }
}

TEST(RangeMaker, NoneOfAGroupWithNaN) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{1, nan, 3, nan, 5, infinity, -infinity, 2, 0.5f, nan};
  for (std::size_t piece = 1; piece <= values.size(); ++piece) {
    const GroupRanges made = ranges_of(tfile::Dtype::f4, values, {0, 3, 5, 8, 9, 10}, piece);
    EXPECT_FALSE(made.groups[0].is_known);
    EXPECT_FALSE(made.groups[1].is_known);
    EXPECT_EQ(ends_of<double>(made.groups[2]), (std::vector<double>{-infinity, infinity}));
    EXPECT_EQ(ends_of<double>(made.groups[3]), (std::vector<double>{0.5, 0.5}));
    EXPECT_FALSE(made.groups[4].is_known);
  }
}

TEST(RangeMaker, ZerosIncludeThoseOfTheOtherSign) {
  const GroupRanges made = ranges_of(tfile::Dtype::f8, std::vector<double>{0.0, 1.0, -0.0, -1.0, 0.5}, {0, 2, 4, 5}, 5);
  const auto ends = [&](std::size_t group) { return ends_of<double>(made.groups[group]); };
  EXPECT_EQ(ends(0), (std::vector<double>{0, 1}));
  EXPECT_TRUE(std::signbit(ends(0)[0]));
  EXPECT_EQ(ends(1), (std::vector<double>{-1, 0}));
  EXPECT_FALSE(std::signbit(ends(1)[1]));
  EXPECT_EQ(ends(2), (std::vector<double>{0.5, 0.5}));
}

TEST(RangeMaker, LargeIntegersAreExact) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max(), half = std::uint64_t{1} << 63;
  const GroupRanges made = ranges_of(tfile::Dtype::u8, std::vector<std::uint64_t>{half, most, half - 1}, {0, 3}, 2);
  EXPECT_EQ(ends_of<std::uint64_t>(made.groups[0]), (std::vector<std::uint64_t>{half - 1, most}));
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const GroupRanges below = ranges_of(tfile::Dtype::i8, std::vector<std::int64_t>{least + 1, least}, {0, 2}, 1);
  EXPECT_EQ(ends_of<std::int64_t>(below.groups[0]), (std::vector<std::int64_t>{least, least + 1}));
}

TEST(RangeMaker, AnyByteIsTrueButZero) {
  const GroupRanges made = ranges_of(tfile::Dtype::b1, std::vector<std::uint8_t>{7, 1, 0, 255, 0, 0}, {0, 2, 4, 6}, 1);
  EXPECT_EQ(ends_of<std::uint64_t>(made.groups[0]), (std::vector<std::uint64_t>{1, 1}));
  EXPECT_EQ(ends_of<std::uint64_t>(made.groups[1]), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(ends_of<std::uint64_t>(made.groups[2]), (std::vector<std::uint64_t>{0, 0}));
}

}  // namespace
}  // namespace tfilefs
