// SPDX-License-Identifier: Apache-2.0
#include "view/defined/defined_streams.h"

#include <gtest/gtest.h>

#include "fs/view/array_table.h"

namespace tfilefs {
namespace {

// How many items twice the numbers of the only column have, which has three entries.
Result<std::int64_t> items_of_claimed(std::int64_t entries) {
  auto table = std::make_shared<ArrayTable>();
  table->entries = entries;
  table->column<float>(0, "s.f4", tfile::Role::values, {1, 2, 3});
  TableRig rig(table);
  auto defined = std::make_shared<const DefinedTable>(rig.table, NamedExpressions{{"twice", "2*s"}}, true);
  EXPECT_TRUE(defined->left_out().empty());
  EXPECT_EQ(defined->columns.size(), 2u);
  if (defined->columns.size() != 2) return -1;
  const auto streams = std::make_shared<DefinedStreams>(*rig.cache, defined, rig.streams);
  Answer<std::int64_t> length;
  streams->length(defined->columns[1].stream, 0, length.reply());
  return length.wait();
}

TEST(DefinedStreams, ClaimedEntriesTakeNoMemory) {
  EXPECT_EQ(items_of_claimed(4).value_or(-1), 3);
  EXPECT_EQ(items_of_claimed(std::int64_t{1} << 30).value_or(-1), 3);
  const auto refused = items_of_claimed(std::int64_t{1} << 55);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(is_refusal(refused.error()));
}

}  // namespace
}  // namespace tfilefs
