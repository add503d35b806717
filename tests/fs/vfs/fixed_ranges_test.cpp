// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>
#include <utility>

#include "fake_file.h"
#include "vfs/nodes/table_load.h"
#include "view/row_groups.h"

namespace tfilefs {
namespace {

// A table in a file, and its Parquet file as it is made again and again.
class FixedRanges : public testing::Test {
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

  std::shared_ptr<const Generation> opened() {
    return std::make_shared<const Generation>(context_, nullptr, GuardedSource::guard(file_->shared_source()).value(),
                                              file_, SourceState{});
  }
  std::shared_ptr<const LoadedTable> loaded(const std::shared_ptr<const Generation>& generation) {
    return waited<std::shared_ptr<const LoadedTable>>(
               [&](auto reply) { load_table(generation, file_->root(), 0, "/t", std::move(reply)); })
        .value();
  }
  // The same, opened anew when nothing uses it.
  std::shared_ptr<const LoadedTable> reopened(const std::shared_ptr<const Generation>& generation,
                                              std::shared_ptr<const LoadedTable> table) {
    const int before = file_->tables_opened;
    for (int tries = 0; tries < 1000 && file_->tables_opened == before; ++tries) {
      table = nullptr;
      if (tries > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      generation->release_idle_tables();
      table = loaded(generation);
    }
    EXPECT_EQ(file_->tables_opened, before + 1);
    return table;
  }
  static void summarize(const LoadedTable& table, tfile::ColumnId id) {
    EXPECT_TRUE(waited<SummaryPtr>([&](auto reply) { table.summary(id, std::move(reply)); }));
  }
  // The footer and what precedes it, and the number of the making.
  std::pair<std::string, std::uint64_t> parquet(const LoadedTable& table) {
    const auto content = waited<std::shared_ptr<Content>>([&](auto reply) {
                           table.view(0, ViewKind::parquet, StringsAs::seen, std::move(reply));
                         }).value();
    constexpr std::uint64_t kTail = 64 << 10;
    return {content_bytes(*content, content->size() - kTail, kTail), content->making()};
  }

  std::shared_ptr<FakeFile> file_ = std::make_shared<FakeFile>();
  std::unique_ptr<ClusterCache> cache_ =
      std::make_unique<ClusterCache>(CacheOptions{.memory = 64 << 20, .threads = 1, .io_threads = 1});
  ErrorLog errors_;
  MountContext context_{*cache_, errors_, {}};
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
