// SPDX-License-Identifier: Apache-2.0
#include "view/known_ranges.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

tfile::Column column_at(tfile::StreamId stream, std::uint32_t slot) {
  tfile::Column column;
  column.stream = stream;
  column.slot = slot;
  return column;
}

GroupRanges some_ranges(std::size_t groups, std::uint64_t least) {
  GroupRanges made;
  made.bounds.resize(groups + 1);
  made.groups.assign(groups, {least, least + 1, true});
  return made;
}

TEST(KnownRanges, AreFixedWhenTheyAreFirstAskedFor) {
  KnownRanges known;
  known.note(1, column_at(3, 0), some_ranges(2, 10));
  known.note(1, column_at(3, 1), some_ranges(2, 20));
  known.note(1, column_at(3, 0), some_ranges(2, 30));
  const RangesByColumnPtr fixed = known.fixed(1);
  EXPECT_EQ(fixed->size(), 2u);
  EXPECT_EQ(fixed->at({3, 0}).groups[0].least, 10u) << "the first stays";
  EXPECT_FALSE(known.has_room(1, 1));
  known.note(1, column_at(4, 0), some_ranges(2, 40));
  EXPECT_EQ(known.fixed(1), fixed);
  EXPECT_EQ(fixed->size(), 2u);
}

TEST(KnownRanges, EachTableHasItsOwn) {
  KnownRanges known;
  EXPECT_TRUE(known.fixed(1)->empty());
  known.note(1, column_at(0, 0), some_ranges(1, 1));
  known.note(2, column_at(0, 0), some_ranges(1, 2));
  EXPECT_TRUE(known.fixed(1)->empty());
  EXPECT_EQ(known.fixed(2)->at({0, 0}).groups[0].least, 2u);
}

TEST(KnownRanges, TakeNoMoreThanTheirMemory) {
  KnownRanges known;
  EXPECT_FALSE(known.has_room(1, 1 << 20));
  known.note(1, column_at(0, 0), some_ranges(1 << 20, 1));
  known.note(1, column_at(1, 0), some_ranges(1 << 17, 2));
  known.note(2, column_at(2, 0), some_ranges((1 << 17) - 1000, 3));
  EXPECT_FALSE(known.has_room(3, 1 << 17));
  EXPECT_TRUE(known.has_room(3, 100));
  EXPECT_EQ(known.fixed(1)->size(), 1u);
  EXPECT_EQ(known.fixed(2)->size(), 1u);
}

}  // namespace
}  // namespace tfilefs
