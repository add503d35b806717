// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "fake_file.h"
#include "vfs/nodes/table_load.h"

namespace tfilefs {
namespace {

struct ShownText {
  std::string bytes;
  std::uint64_t making = 0;
  bool operator==(const ShownText&) const = default;
};

// A table with a column whose length only decoding tells, and the texts that say it.
class FixedTexts : public testing::TestWithParam<ViewKind> {
 protected:
  FixedTexts() {
    auto table = std::make_shared<ArrayTable>();
    table->entries = 4;
    table->column<float>(0, "a.f4", tfile::Role::values, {1, 2, 3, 4});
    table->counted_stream = 0;
    for (int i = 0; i < kOthers; ++i)
      table->column<float>(0, "b" + std::to_string(i) + ".f4", tfile::Role::values, {1, 2, 3, 4});
    file_->table("t", table);
  }

  std::shared_ptr<const LoadedTable> loaded() {
    return waited<std::shared_ptr<const LoadedTable>>(
               [&](auto reply) { load_table(generation_, file_->root(), 0, "/t", std::move(reply)); })
        .value();
  }
  static std::shared_ptr<Content> view(const LoadedTable& table, tfile::NodeId node, ViewKind kind) {
    return waited<std::shared_ptr<Content>>(
               [&](auto reply) { table.view(node, kind, StringsAs::seen, std::move(reply)); })
        .value();
  }
  static ShownText text(const LoadedTable& table) {
    const auto content = view(table, 0, GetParam());
    return {content_bytes(*content, 0, content->size()), content->making()};
  }
  static void decode(const LoadedTable& table) {
    EXPECT_EQ(waited<std::int64_t>([&](auto reply) { table.length(0, std::move(reply)); }), 4);
  }
  // Views for which others make room.
  static void make_others(const LoadedTable& table) {
    for (tfile::NodeId node = 2; node < 2 + kOthers; ++node) view(table, node, ViewKind::text);
  }

  static constexpr int kOthers = 1'000;
  std::shared_ptr<FakeFile> file_ = std::make_shared<FakeFile>();
  std::unique_ptr<ClusterCache> cache_ =
      std::make_unique<ClusterCache>(CacheOptions{.memory = 64 << 20, .threads = 1, .io_threads = 1});
  ErrorLog errors_;
  MountContext context_{*cache_, errors_, {}};
  const std::shared_ptr<const Generation> generation_ = std::make_shared<const Generation>(
      context_, nullptr, GuardedSource::guard(file_->shared_source()).value(), file_, SourceState{});
};

TEST_P(FixedTexts, ATextThatIsMadeAgainIsTheSame) {
  const auto table = loaded();
  const std::weak_ptr<Content> content = view(*table, 0, GetParam());
  const ShownText first = text(*table);
  decode(*table);
  make_others(*table);
  EXPECT_TRUE(content.expired()) << "the text was not made again";
  EXPECT_EQ(text(*table), first);
}

TEST_P(FixedTexts, ATableOpenedAnewTellsAnotherTextApart) {
  auto table = loaded();
  const ShownText first = text(*table);
  const int before = file_->tables_opened;
  for (int tries = 0; tries < 1000 && file_->tables_opened == before; ++tries) {
    table = nullptr;
    if (tries > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    generation_->release_idle_tables();
    table = loaded();
  }
  ASSERT_EQ(file_->tables_opened, before + 1);
  decode(*table);
  const ShownText other = text(*table);
  EXPECT_EQ(other.bytes == first.bytes, other.making == first.making);
  EXPECT_NE(first.making, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, FixedTexts, testing::Values(ViewKind::schema, ViewKind::awkward, ViewKind::index));

}  // namespace
}  // namespace tfilefs
