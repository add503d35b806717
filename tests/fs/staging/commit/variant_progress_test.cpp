// SPDX-License-Identifier: Apache-2.0
// How far tables with variants are, and which items belong to which entries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "staging/commit/column_items.h"
#include "staging/commit/table_progress.h"
#include "staging/overlay/variants_check.h"

namespace tfilefs {
namespace {

class Bytes : public ColumnSource {
 public:
  explicit Bytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
    const std::size_t begin = std::min<std::size_t>(offset, bytes_.size());
    const std::size_t size = std::min(into.size(), bytes_.size() - begin);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(begin), size, into.begin());
    return size;
  }
  std::optional<Slices> pin(std::uint64_t, std::size_t) const override { return std::nullopt; }

 private:
  const std::vector<std::byte> bytes_;
};

template <class T>
StagedColumn column(const std::string& path, std::vector<T> values, std::size_t committed = 0) {
  StagedColumn made;
  made.node = std::make_shared<StagedNode>(0, false, path, nullptr);
  made.path = path;
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  made.size = bytes.size();
  made.base = committed * sizeof(T);
  made.bytes = std::make_shared<Bytes>(std::move(bytes));
  return made;
}

StagedTable table(std::vector<StagedColumn> columns) {
  StagedTable made;
  made.format = tfile::TableFormat::rntuple;
  made.columns = std::move(columns);
  made.classes["v"] = "std::variant<float,std::string>";
  return made;
}

using Tags = std::vector<std::int8_t>;
using Numbers = std::vector<std::int64_t>;

StagedTable variants(const Tags& tags, const Numbers& index, std::size_t floats, const Numbers& offsets) {
  std::vector<char> chars(static_cast<std::size_t>(offsets.empty() ? 0 : offsets.back()), 'x');
  return table({column("v/tags.i1", tags), column("v/index.i8", index),
                column("v/float.f4", std::vector<float>(floats)), column("v/std::string/offsets.i8", offsets),
                column("v/std::string/chars.u1", chars)});
}

TEST(VariantProgress, AnAlternativeHasAnItemForEachOfItsTags) {
  StagedTable whole = variants({2, 1, 0, 1, 2}, {0, 0, 0, 1, 1}, 2, {0, 3, 5});
  const TableProgress progress = progress_of(whole, nullptr);
  EXPECT_TRUE(progress.whole) << progress.reasons[0];
  EXPECT_EQ(progress.entries, 5);
}

TEST(VariantProgress, EntriesAreCompleteUpToTheFirstWhoseItemIsNotThere) {
  const auto entries = [](StagedTable made) {
    const TableProgress progress = progress_of(made, nullptr);
    EXPECT_FALSE(progress.whole);
    return progress.entries;
  };
  EXPECT_EQ(entries(variants({2, 1, 0, 1, 2}, {0, 0, 0, 1, 1}, 1, {0, 3, 5})), 3);
  EXPECT_EQ(entries(variants({2, 1, 0, 1, 2}, {0, 0, 0, 1, 1}, 2, {0, 3})), 4);
  EXPECT_EQ(entries(variants({2, 1, 0, 1, 2}, {0, 0, 0, 1, 1}, 2, {})), 0) << "not even an empty text";
  EXPECT_EQ(entries(variants({2, 1, 0, 1, 2}, {0, 0, 0, 1}, 2, {0, 3, 5})), 4);
  StagedTable more = variants({2, 1}, {0, 0}, 2, {0, 3});
  EXPECT_EQ(progress_of(more, nullptr).reasons, std::vector<std::string>{"v/float.f4: 2 items, v/tags.i1 expects 1"});
}

TEST(VariantProgress, WhatNoFurtherByteMends) {
  const auto hopeless = [](const Tags& tags, const Numbers& index) {
    StagedTable made = variants(tags, index, 2, {0, 1});
    const TableProgress progress = progress_of(made, nullptr);
    EXPECT_EQ(progress.can_be_cut, progress.hopeless.empty());
    return progress.hopeless.empty() ? "" : progress.hopeless[0];
  };
  EXPECT_EQ(hopeless({1, 2, 1}, {0, 0, 1}), "");
  EXPECT_NE(
      hopeless({1, 2, 1}, {0, 0, 2}).find("variant 2 does not refer to the next item of its alternative, number 1"),
      std::string::npos);
  EXPECT_NE(hopeless({1, 2, 1}, {5, 0, 6}).find("variant 0"), std::string::npos);
  EXPECT_NE(hopeless({1, 2, -3}, {0, 0, 0}).find("has tag -3, of 2 alternatives"), std::string::npos);
}

TEST(VariantProgress, CountsGoOnBehindCommittedItems) {
  StagedTable first = variants({1, 2, 1}, {0, 0, 1}, 2, {0, 4});
  std::vector<tfile::InputColumn> columns;
  for (const StagedColumn& each : first.columns) {
    columns.push_back(*tfile::offered_column(each.path));
    columns.back().classes = {{"v", first.classes["v"]}};
  }
  CommittedTable committed;
  committed.format = tfile::TableFormat::rntuple;
  committed.form.columns = columns;
  committed.form.fields = tfile::offered_form(columns, committed.format)->fields;
  committed.entries = 3;
  committed.items = [](const std::string& path) -> Result<std::int64_t> { return path == "v/float.f4" ? 2 : 1; };

  StagedTable more =
      table({column("v/tags.i1", Tags{1, 2, 1, 0, 1}, 3), column("v/index.i8", Numbers{0, 0, 1, 0, 2}, 3),
             column("v/float.f4", std::vector<float>(3), 2)});
  const TableProgress progress = progress_of(more, &committed);
  EXPECT_TRUE(progress.whole) << progress.reasons[0];
  EXPECT_EQ(progress.entries, 5);
  StagedTable wrong = table({column("v/tags.i1", Tags{1, 2, 1, 2}, 3), column("v/index.i8", Numbers{0, 0, 1, 0}, 3)});
  EXPECT_NE(progress_of(wrong, &committed).hopeless[0].find("number 1"), std::string::npos);
}

TEST(VariantProgress, TheItemsTellTheOrderWhereTheyLeaveNoDoubt) {
  const auto type = [](StagedTable made) {
    made.classes.clear();
    const TableProgress progress = progress_of(made, nullptr);
    EXPECT_FALSE(progress.can_be_cut) << "while it is written, the items may belong otherwise";
    return progress.whole ? made.classes["v"] : "";
  };
  EXPECT_EQ(type(variants({2, 1, 0, 1, 1}, {0, 0, 0, 1, 2}, 1, {0, 2, 3, 5})), "std::variant<std::string,float>");
  EXPECT_EQ(type(variants({2, 1, 0, 1, 1}, {0, 0, 0, 1, 2}, 3, {0, 5})), "std::variant<float,std::string>");
  EXPECT_EQ(type(variants({2, 2}, {0, 1}, 2, {0})), "std::variant<std::string,float>");
  EXPECT_EQ(type(variants({2, 1, 0, 1, 2}, {0, 0, 0, 1, 1}, 2, {0, 3, 5})), "") << "equally many";
  EXPECT_EQ(type(variants({2, 1, 0, 1, 1}, {0, 0, 0, 1, 2}, 1, {0, 2, 3})), "");
  EXPECT_EQ(type(variants({3, 1, 0, 1, 1}, {0, 0, 0, 1, 2}, 1, {0, 2, 3, 5})), "");
}

TEST(VariantItems, AreThoseThatTheIndexTells) {
  const StagedTable staged = variants({2, 1, 0, 1, 2}, {0, 0, 0, 1, 1}, 2, {0, 3, 5});
  std::vector<tfile::InputColumn> offered;
  FieldColumns field;
  for (const StagedColumn& each : staged.columns) offered.push_back(*tfile::offered_column(each.path));
  for (std::size_t i = 0; i < offered.size(); ++i) {
    offered[i].classes = {{"v", "std::variant<float,std::string>"}};
    field.staged.push_back(&staged.columns[i]);
    field.offered.push_back(&offered[i]);
  }
  const tfile::FieldForm form = tfile::offered_form(offered, tfile::TableFormat::rntuple)->fields[0];
  field.lists = form.lists;
  field.variants = form.variants;

  const auto items = staged_items(field)({3, 5});
  ASSERT_TRUE(items) << items.error().text;
  EXPECT_EQ(items->cluster_items, (Numbers{3, 3, 1, 1, 3}));
  EXPECT_EQ(items->columns[2].size(), sizeof(float));
  EXPECT_EQ(items->columns[4].size(), 2U);
  const auto none = staged_items(field)({2, 3});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->cluster_items, (Numbers{2, 2, -1, -1, -1}));
  EXPECT_EQ(none->columns[3].size(), sizeof(std::int64_t)) << "no lists have one offset";

  EXPECT_EQ(*bytes_of_entries(field, 4), (std::vector<std::uint64_t>{4, 32, 8, 16, 3}));
  EXPECT_EQ(*bytes_of_entries(field, 1), (std::vector<std::uint64_t>{1, 8, 0, 16, 3}));
}

TEST(VariantsSeen, GrowWithTheirFiles) {
  StagedColumn tags = column("v/tags.i1", Tags{1, 2, 1, 2, 2}), index = column("v/index.i8", Numbers{0, 0, 1, 1, 3});
  tags.size = 2;
  VariantsSeen seen = *look_at_variants(tags, index, {});
  EXPECT_EQ(seen.alternatives.size(), 2U);
  EXPECT_FALSE(seen.alternatives[1].wrong);
  tags.size = 5;
  seen = *look_at_variants(tags, index, seen);
  EXPECT_EQ(seen.alternatives[0].next, 2);
  EXPECT_EQ(*seen.alternatives[1].wrong, 4);
  EXPECT_EQ(seen.alternatives[1].wanted, 2);
  EXPECT_EQ(*variants_within(tags, index, 1, 1), 2);
  EXPECT_EQ(*variants_within(tags, index, 1, 2), 5);
}

}  // namespace
}  // namespace tfilefs
