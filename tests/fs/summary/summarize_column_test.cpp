// SPDX-License-Identifier: Apache-2.0
#include "summary/summarize_column.h"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <vector>

#include "fs/view/array_table.h"
#include "view/row_groups.h"

namespace tfilefs {
namespace {

constexpr std::int64_t kListRows = kGroupRowsMin + 3;  // a group, and a short one

// Each entry has two lists; the one has one number, the other two. The numbers count up.
std::shared_ptr<ArrayTable> table_of_lists() {
  auto table = std::make_shared<ArrayTable>(1 << 16);
  table->entries = kListRows;
  table->clusters = {kGroupRowsMin, kListRows};
  std::vector<std::int64_t> outer, inner;
  for (std::int64_t i = 0; i <= kListRows; ++i) outer.push_back(2 * i);
  for (std::int64_t i = 0; i <= 2 * kListRows; ++i) inner.push_back(3 * (i / 2) + i % 2);
  const tfile::NodeId list = table->directory(0, "v");
  table->column(list, "offsets.i8", tfile::Role::offsets, outer);
  const tfile::NodeId values = table->directory(list, "values");
  table->column(values, "offsets.i8", tfile::Role::offsets, inner);
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(3 * kListRows));
  std::iota(numbers.begin(), numbers.end(), 0);
  table->column(values, "values.i4", tfile::Role::values, numbers);
  table->column(0, "pairs.i4x2", tfile::Role::values, std::vector<std::int32_t>(2 * kListRows, 7), {2});
  table->column(0, "short.i4", tfile::Role::values, std::vector<std::int32_t>(10, 5));
  return table;
}

class GroupsOfColumns : public testing::Test {
 protected:
  // Of column `id`, as a summary leaves them.
  GroupRanges ranges_of(tfile::ColumnId id) {
    Answer<SummaryPtr> answer;
    summarize_column(rig_.streams, rig_.table, id, {known_, 0}, answer.reply());
    EXPECT_TRUE(answer.wait());
    const tfile::Column& column = rig_.table->columns[id];
    const auto fixed = std::exchange(known_, std::make_shared<KnownRanges>())->fixed(0);
    const auto found = fixed->find({column.stream, column.slot});
    return found == fixed->end() ? GroupRanges() : found->second;
  }

  TableRig rig_{table_of_lists()};
  std::shared_ptr<KnownRanges> known_ = std::make_shared<KnownRanges>();
};

TEST_F(GroupsOfColumns, OfListsTheyEndWithTheEntries) {
  const GroupRanges made = ranges_of(2);
  ASSERT_EQ(made.bounds, (std::vector<std::int64_t>{0, 3 * kGroupRowsMin, 3 * kListRows}));
  EXPECT_EQ(made.groups[0].least, 0u);
  EXPECT_EQ(made.groups[0].most, static_cast<std::uint64_t>(3 * kGroupRowsMin - 1));
  EXPECT_EQ(made.groups[1].least, static_cast<std::uint64_t>(3 * kGroupRowsMin));
  EXPECT_EQ(made.groups[1].most, static_cast<std::uint64_t>(3 * kListRows - 1));
}

TEST_F(GroupsOfColumns, EachElementOfAnItemIsAValue) {
  const GroupRanges made = ranges_of(3);
  EXPECT_EQ(made.bounds, (std::vector<std::int64_t>{0, 2 * kGroupRowsMin, 2 * kListRows}));
  EXPECT_EQ(made.groups[1].least, 7u);
}

TEST_F(GroupsOfColumns, OfAShortColumnTheLastAreEmpty) {
  const GroupRanges made = ranges_of(4);
  EXPECT_EQ(made.bounds, (std::vector<std::int64_t>{0, 10, 10}));
  EXPECT_TRUE(made.groups[0].is_known);
  EXPECT_FALSE(made.groups[1].is_known);
}

TEST_F(GroupsOfColumns, NoneAreLookedForOnceTheyAreFixed) {
  const auto known = known_;
  EXPECT_TRUE(known->fixed(0)->empty());
  EXPECT_TRUE(ranges_of(2).bounds.empty());
}

}  // namespace
}  // namespace tfilefs
