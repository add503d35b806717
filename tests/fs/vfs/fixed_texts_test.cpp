// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "reopened_table.h"

namespace tfilefs {
namespace {

struct ShownText {
  std::string bytes;
  std::uint64_t making = 0;
  bool operator==(const ShownText&) const = default;
};

// A table with a column whose length only decoding tells, and the texts that say it.
class FixedTexts : public ReopenedTable, public testing::WithParamInterface<ViewKind> {
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

  static ShownText text(const LoadedTable& table) {
    const auto content = view(table, 0, GetParam());
    return {content_bytes(*content, 0, content->size()), content->build_id()};
  }
  static void decode(const LoadedTable& table) {
    EXPECT_EQ(waited<std::int64_t>([&](auto reply) { table.length(0, std::move(reply)); }), 4);
  }
  // Views for which others make room.
  static void make_others(const LoadedTable& table) {
    for (tfile::NodeId node = 2; node < 2 + kOthers; ++node) view(table, node, ViewKind::text);
  }

  static constexpr int kOthers = 1'000;
};

TEST_P(FixedTexts, ATextThatIsMadeAgainIsTheSame) {
  const auto generation = opened();
  const auto table = loaded(generation);
  const std::weak_ptr<Content> content = view(*table, 0, GetParam());
  const ShownText first = text(*table);
  decode(*table);
  make_others(*table);
  EXPECT_TRUE(content.expired()) << "the text was not made again";
  EXPECT_EQ(text(*table), first);
}

TEST_P(FixedTexts, ATableOpenedAnewTellsAnotherTextApart) {
  const auto generation = opened();
  auto table = loaded(generation);
  const ShownText first = text(*table);
  table = reopened(generation, std::move(table));
  decode(*table);
  const ShownText other = text(*table);
  EXPECT_EQ(other.bytes == first.bytes, other.making == first.making);
  EXPECT_NE(first.making, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, FixedTexts, testing::Values(ViewKind::schema, ViewKind::awkward, ViewKind::index));

}  // namespace
}  // namespace tfilefs
