// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "fs/view/array_table.h"
#include "view/row_groups.h"
#include "view/view.h"

namespace tfilefs {
namespace {

constexpr std::int64_t kGroupedRows = kGroupRowsMin + 1000;  // a group, and a short one

std::shared_ptr<ArrayTable> table_of_two_groups() {
  auto table = std::make_shared<ArrayTable>(1 << 16);
  table->entries = kGroupedRows;
  table->clusters = {kGroupRowsMin, kGroupedRows};
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(kGroupedRows));
  std::iota(numbers.begin(), numbers.end(), 0);
  table->column(0, "x.i4", tfile::Role::values, numbers);
  table->column(0, "y.i4", tfile::Role::values, numbers);
  return table;
}

struct MadeParquet {
  std::string bytes;
  std::uint64_t making = 0;
};

MadeParquet made_with(const RangesByColumn& ranges) {
  TableRig rig(table_of_two_groups());
  Answer<std::shared_ptr<Content>> answer;
  parquet_content(rig.streams, rig.table, StringsAs::seen, std::make_shared<const RangesByColumn>(ranges),
                  answer.reply());
  const std::shared_ptr<Content> content = answer.wait().value();
  return {content_bytes(*content, 0, content->size()), content->build_id()};
}

// Both values of x, of each group: whole little-endian words behind each other in the footer.
std::string field_of(std::int32_t value) {
  return std::string("\x04", 1) + std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

TEST(Parquet, TheFooterHasTheRangesThatAreKnown) {
  const MadeParquet without = made_with({});
  EXPECT_EQ(without.making, 0u);
  GroupRanges ranges{{0, kGroupRowsMin, kGroupedRows}, {{11, 22, true}, {1'234'567, 1'234'568, true}}};
  const MadeParquet with = made_with({{{0, 0}, ranges}});
  ASSERT_EQ(with.bytes.size(), without.bytes.size()) << "so that a size that was told is right";
  EXPECT_NE(with.making, 0u);
  EXPECT_EQ(with.making, made_with({{{0, 0}, ranges}}).making);
  const std::size_t columns = 2 * kGroupedRows * sizeof(std::int32_t);
  EXPECT_EQ(with.bytes.substr(0, columns), without.bytes.substr(0, columns)) << "only the footer is another";
  for (const std::int32_t value : {11, 22, 1'234'567, 1'234'568}) {
    EXPECT_NE(with.bytes.find(field_of(value), columns), std::string::npos) << value;
    EXPECT_EQ(without.bytes.find(field_of(value), columns), std::string::npos) << value;
  }

  ranges.groups[0].most = 23;
  EXPECT_NE(made_with({{{0, 0}, ranges}}).making, with.making);
}

TEST(Parquet, RangesOfOtherValuesAreLeftOut) {
  const MadeParquet without = made_with({});
  const std::vector<ValueRange> groups{{11, 22, true}, {33, 44, true}};
  for (const std::vector<std::int64_t>& bounds :
       {std::vector<std::int64_t>{0, kGroupRowsMin - 1, kGroupedRows - 1}, {1, kGroupRowsMin + 1, kGroupedRows + 1}}) {
    const MadeParquet with = made_with({{{0, 0}, {bounds, groups}}});
    EXPECT_EQ(with.bytes, without.bytes);
    EXPECT_EQ(with.making, 0u);
  }
  EXPECT_EQ(made_with({{{7, 0}, {{0, kGroupRowsMin, kGroupedRows}, groups}}}).bytes, without.bytes);
  EXPECT_EQ(made_with({{{0, 0}, {{0, kGroupRowsMin, kGroupedRows}, {{}, {}}}}}).bytes, without.bytes)
      << "none is known";
}

}  // namespace
}  // namespace tfilefs
