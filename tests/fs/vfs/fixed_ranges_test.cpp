// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <utility>

#include "reopened_table.h"
#include "view/row_groups.h"

namespace tfilefs {
namespace {

// A table in a file, and its Parquet file as it is made again and again.
class FixedRanges : public ReopenedTable {
 protected:
  FixedRanges() {
    auto table = std::make_shared<ArrayTable>(1 << 16);
    table->entries = kGroupRowsMin + 5;
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(table->entries));
    std::iota(numbers.begin(), numbers.end(), 0);
    table->column(0, "n.i4", tfile::Role::values, numbers);
    table->column(0, "m.i4", tfile::Role::values, numbers);
    file_->table("t", table);
  }

  static void summarize(const LoadedTable& table, tfile::ColumnId id) {
    EXPECT_TRUE(waited<SummaryPtr>([&](auto reply) { table.summary(id, std::move(reply)); }));
  }
  // The footer and what precedes it, and the number of the making.
  std::pair<std::string, std::uint64_t> parquet(const LoadedTable& table) {
    const auto content = view(table, 0, ViewKind::parquet);
    constexpr std::uint64_t kTail = 64 << 10;
    return {content_bytes(*content, content->size() - kTail, kTail), content->build_id()};
  }
};

TEST_F(FixedRanges, AFileThatWasMadeStaysTheSame) {
  const auto generation = opened();
  auto table = loaded(generation);
  const auto before = parquet(*table);
  EXPECT_EQ(before.second, 0u);
  summarize(*table, 0);
  EXPECT_EQ(parquet(*table), before);

  table = reopened(generation, std::move(table));
  summarize(*table, 0);
  EXPECT_EQ(parquet(*table), before);
}

TEST_F(FixedRanges, WhatItHasStaysInIt) {
  const auto generation = opened();
  auto table = loaded(generation);
  summarize(*table, 0);
  table = reopened(generation, std::move(table));
  const auto first = parquet(*table);
  EXPECT_NE(first.second, 0u) << "known by the table that was given up";

  table = reopened(generation, std::move(table));
  summarize(*table, 1);
  EXPECT_EQ(parquet(*table), first);

  const auto later = parquet(*loaded(opened()));
  EXPECT_NE(later.first, first.first) << "another generation has others";
  EXPECT_EQ(later.second, 0u);
}

}  // namespace
}  // namespace tfilefs
