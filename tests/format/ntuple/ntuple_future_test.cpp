// SPDX-License-Identifier: Apache-2.0
// RNTuples that ROOT does not write, but that the specification allows or plans for.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "format/ntuple/ntuple_kinds.h"
#include "format/ntuple/read_image.h"

namespace tfile {
namespace {

using test::ClusterImage;
using test::ColumnImage;
using test::FieldImage;
using test::LocatorKind;
using test::NtupleImage;
using test::numbers_of;
using test::open_table;
using test::page_of;
using test::PageImage;
using test::read_column;

template <class T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> numbers(count);
  std::iota(numbers.begin(), numbers.end(), T{});
  return numbers;
}

PageImage future_page(std::int32_t elements, std::vector<std::byte> bytes) {
  PageImage made;
  made.elements = elements;
  made.bytes = std::move(bytes);
  return made;
}

// A top-level field of this type with one column, and one cluster with these pages.
NtupleImage one_column(std::string type_name, ColumnImage column, std::vector<PageImage> pages) {
  NtupleImage image;
  image.schema.fields = {{.name = "x", .type_name = std::move(type_name)}};
  image.schema.columns = {std::move(column)};
  ClusterImage cluster;
  for (const PageImage& each : pages) cluster.entries += static_cast<std::uint64_t>(each.elements);
  cluster.columns = {{0, std::move(pages)}};
  image.groups = {{{cluster}}};
  return image;
}
NtupleImage two_pages() {
  return one_column("std::int32_t", {0x07, 32, 0},
                    {future_page(2, page_of<std::int32_t>({1, 2})), future_page(3, page_of<std::int32_t>({3, 4, 5}))});
}

void expect_all_kinds(const Table& table) {
  EXPECT_EQ(table.reason, "");
  EXPECT_EQ(table.entries, 7);
  EXPECT_EQ(numbers_of<float>(table, "x.f4"), counted<float>(7));
  EXPECT_EQ(numbers_of<std::int64_t>(table, "v/offsets.i8"), (std::vector<std::int64_t>{0, 2, 4, 6, 8, 10, 12, 14}));
  EXPECT_EQ(numbers_of<std::int32_t>(table, "v/values.i4"), counted<std::int32_t>(14));
  EXPECT_EQ(numbers_of<std::uint32_t>(table, "n.u4"), std::vector<std::uint32_t>(7, 2));
  EXPECT_EQ(numbers_of<float>(table, "a.f4x3"), counted<float>(21));
  EXPECT_EQ(numbers_of<std::uint8_t>(table, "bits.b1x5").size(), 35u);
  EXPECT_EQ(numbers_of<std::uint8_t>(table, "var/tags.i1"), (std::vector<std::uint8_t>{0, 1, 2, 0, 1, 0, 1}));
  EXPECT_EQ(numbers_of<std::int64_t>(table, "var/index.i8"), (std::vector<std::int64_t>{0, 0, 0, 0, 1, 0, 2}));
  EXPECT_EQ(numbers_of<double>(table, "rec/m.f8"), counted<double>(7));
  EXPECT_EQ(numbers_of<std::int64_t>(table, "w/values/offsets.i8").size(), 8u);
  EXPECT_EQ(numbers_of<std::uint8_t>(table, "w/values/values.u1"), counted<std::uint8_t>(14));
  EXPECT_EQ(numbers_of<std::uint8_t>(table, "words/values/chars.u1"), counted<std::uint8_t>(14));
  EXPECT_EQ(numbers_of<float>(table, "late.f4"), (std::vector<float>{0, 0, 0, 0, 1, 2, 3}));
}

TEST(NtupleImage, IsReadAsItWasMade) {
  NtupleImage image = test::ntuple_of_all_kinds();
  const auto table = open_table(image.finish());
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->warnings.empty());
  EXPECT_EQ(table->clusters, (std::vector<std::int64_t>{0, 3, 5, 7}));
  expect_all_kinds(*table);
  test::expect_survived(image.finish());
}

TEST(NtupleFuture, HalvesMayBeSplit) {
  // 1, -2 and 0.5: all low bytes, then all high bytes.
  const auto bytes = page_of<std::uint8_t>({0, 0, 0, 0x3c, 0xc0, 0x38});
  const auto table = open_table(one_column("double", {0x17, 16, 0}, {future_page(3, bytes)}).finish());
  EXPECT_EQ(numbers_of<double>(*table, "x.f8"), (std::vector<double>{1, -2, 0.5}));
}

TEST(NtupleFuture, LocatorsMayBeLarge) {
  NtupleImage image = test::ntuple_of_all_kinds();
  for (auto& group : image.groups) {
    group.locator = LocatorKind::large;
    for (auto& cluster : group.clusters)
      for (auto& column : cluster.columns)
        for (auto& each : column.pages) each.locator = LocatorKind::large;
  }
  const auto table = open_table(image.finish());
  EXPECT_TRUE(table->warnings.empty());
  expect_all_kinds(*table);
}

TEST(NtupleFuture, PagesWithAnUnknownLocatorAreLostAlone) {
  NtupleImage image = two_pages();
  image.groups[0].clusters[0].columns[0].pages[0].locator = LocatorKind::unknown;
  const auto table = open_table(image.finish());
  EXPECT_EQ(table->entries, 5);
  const auto read = read_column(*table, "x.i4");
  ASSERT_EQ(read.errors.size(), 2u);
  EXPECT_NE(read.errors[0], "");
  EXPECT_EQ(read.errors[1], "");
  EXPECT_EQ(read.as<std::int32_t>(), (std::vector<std::int32_t>{3, 4, 5}));
  EXPECT_EQ(table->lengths(0), (std::vector<std::int64_t>{5}));
}

TEST(NtupleFuture, APageListWithAnUnknownLocatorLosesItsClusters) {
  NtupleImage image = test::ntuple_of_all_kinds();
  image.groups[0].locator = LocatorKind::unknown;
  const auto table = open_table(image.finish());
  EXPECT_EQ(table->entries, 7);
  EXPECT_EQ(table->warnings.size(), 1u);
  const auto read = read_column(*table, "x.f4");
  EXPECT_EQ(read.as<float>(), (std::vector<float>{5, 6}));
  EXPECT_EQ(read_column(*table, "v/values.i4").as<std::int32_t>(), (std::vector<std::int32_t>{10, 11, 12, 13}));
}

// With a distant source, each call costs a delay.
TEST(NtupleFuture, PageListsOfManyGroupsAreReadInOneCall) {
  const auto calls_to_open = [](int groups) {
    NtupleImage image = two_pages();
    image.groups.resize(static_cast<std::size_t>(groups), image.groups[0]);
    for (int i = 0; i < groups; ++i) {
      ClusterImage& cluster = image.groups[static_cast<std::size_t>(i)].clusters[0];
      cluster.first_entry = static_cast<std::uint64_t>(5 * i);
      cluster.columns[0].first_element = 5 * i;
    }
    const auto source = test::in_memory(image.finish());
    EXPECT_EQ(open_table(source)->entries, 5 * groups);
    return source->calls();
  };
  EXPECT_LE(calls_to_open(2000), calls_to_open(1) + 2);
}

TEST(NtupleFuture, AFieldOfAnUnknownColumnTypeIsLeftOut) {
  for (const std::uint16_t type : {std::uint16_t{0x1E}, std::uint16_t{0xFFFF}}) {
    NtupleImage image = test::ntuple_of_all_kinds();
    image.schema.columns[2].type = type;  // the items of v
    image.schema.columns[10].bits = 63;   // rec.m: not a Real64
    const auto table = open_table(image.finish());
    EXPECT_EQ(test::find_column(*table, "v/offsets.i8"), nullptr);
    EXPECT_EQ(test::find_column(*table, "rec/m.f8"), nullptr);
    ASSERT_EQ(table->warnings.size(), 2u) << table->warnings[2];
    EXPECT_NE(table->warnings[0].find("field v "), std::string::npos) << table->warnings[0];
    EXPECT_NE(table->warnings[0].find("column type " + std::to_string(type)), std::string::npos);
    EXPECT_EQ(numbers_of<float>(*table, "x.f4"), counted<float>(7));
    EXPECT_EQ(numbers_of<std::uint8_t>(*table, "w/values/values.u1"), counted<std::uint8_t>(14));
    // The field shows the index column, whatever the items are.
    EXPECT_EQ(numbers_of<std::uint32_t>(*table, "n.u4"), std::vector<std::uint32_t>(7, 2));
    test::expect_survived(image.finish());
  }
}

TEST(NtupleFuture, StreamedObjectsOfAnUndescribedClassAreTheirBytes) {
  NtupleImage image;
  image.schema.fields = {{.name = "s", .type_name = "Unknown", .role = 4}, {.name = "x", .type_name = "std::int32_t"}};
  image.schema.columns = {{0x0F, 64, 0}, {0x01, 8, 0}, {0x07, 32, 1}};
  ClusterImage cluster;
  cluster.entries = 2;
  cluster.columns = {{0, {future_page(2, page_of<std::uint64_t>({3, 5}))}},
                     {0, {future_page(5, page_of<std::uint8_t>({1, 2, 3, 4, 5}))}},
                     {0, {future_page(2, page_of<std::int32_t>({7, 8}))}}};
  image.groups = {{{cluster}}};
  const auto table = open_table(image.finish());
  EXPECT_EQ(table->reason, "");
  const auto raw = std::ranges::find(table->columns, Role::raw, &Column::role);
  ASSERT_NE(raw, table->columns.end());
  EXPECT_NE(raw->reason.find("Unknown"), std::string::npos) << raw->reason;
  EXPECT_EQ(numbers_of<std::uint8_t>(*table, raw->path), (std::vector<std::uint8_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(numbers_of<std::int32_t>(*table, "x.i4"), (std::vector<std::int32_t>{7, 8}));
}

std::string reason_of(NtupleImage image) {
  const auto table = open_table(image.finish());
  EXPECT_TRUE(table->columns.empty());
  EXPECT_EQ(table->entries, 0);
  return table->reason;
}

TEST(NtupleFuture, AnUnknownFeatureRefusesTheTable) {
  const std::uint64_t more = std::uint64_t{1} << 63;
  for (const bool in_footer : {false, true}) {
    const auto refused = [&](std::vector<std::uint64_t> words) {
      NtupleImage image = two_pages();
      (in_footer ? image.footer_flags : image.header_flags) = std::move(words);
      return reason_of(std::move(image));
    };
    EXPECT_NE(refused({1}).find("bit 0 "), std::string::npos);
    EXPECT_NE(refused({1 << 5}).find("bit 5 "), std::string::npos);
    EXPECT_NE(refused({more | std::uint64_t{1} << 62, 0}).find("bit 62 "), std::string::npos);
    EXPECT_NE(refused({more, more, 2}).find("bit 127 "), std::string::npos);
    NtupleImage none = two_pages();
    (in_footer ? none.footer_flags : none.header_flags) = {more, more, 0};
    EXPECT_EQ(numbers_of<std::int32_t>(*open_table(none.finish()), "x.i4"), (std::vector<std::int32_t>{1, 2, 3, 4, 5}));
  }
}

TEST(NtupleFuture, AnotherEpochIsRefusedAndALaterVersionIsRead) {
  for (const std::uint16_t epoch : {std::uint16_t{0}, std::uint16_t{2}}) {
    NtupleImage image = two_pages();
    image.epoch = epoch;
    image.patch = 7;
    EXPECT_NE(reason_of(std::move(image)).find("version " + std::to_string(epoch) + ".0.2.7"), std::string::npos);
  }
  NtupleImage image = test::ntuple_of_all_kinds();
  image.major = 3;
  image.minor = image.patch = 60'000;
  expect_all_kinds(*open_table(image.finish()));
}

TEST(NtupleFuture, AFooterBeforeAttributeSetsIsRead) {
  NtupleImage image = test::ntuple_of_all_kinds();
  image.has_attribute_sets = false;
  expect_all_kinds(*open_table(image.finish()));
}

// A second representation was added in the second cluster, where it has the pages.
TEST(NtupleFuture, ARepresentationMayBeDeferredAndSuppressed) {
  for (const std::int64_t first : {std::int64_t{-2}, INT64_MIN}) {
    NtupleImage image = two_pages();
    image.extension.columns = {{0x0D, 64, 0, 1, first}};
    image.schema.columns = {{0x0C, 32, 0}};
    image.schema.fields[0].type_name = "double";
    image.groups[0].clusters[0].columns[0].pages = {future_page(2, page_of<float>({1, 2}))};
    image.groups[0].clusters[0].entries = 2;
    ClusterImage second;
    second.first_entry = 2;
    second.entries = 3;
    second.columns = {{0, {}, true}, {2, {future_page(3, page_of<double>({3, 4, 5.25}))}}};
    image.groups[0].clusters.push_back(second);
    second.first_entry = 5;
    second.entries = 1;
    second.columns = {{5, {future_page(1, page_of<float>({6}))}}, {0, {}, true}};
    image.groups[0].clusters.push_back(second);
    const auto table = open_table(image.finish());
    EXPECT_TRUE(table->warnings.empty());
    EXPECT_EQ(numbers_of<double>(*table, "x.f8"), (std::vector<double>{1, 2, 3, 4, 5.25, 6}));
  }
}

TEST(NtupleFuture, WhatLaterVersionsAppendIsPassedOver) {
  NtupleImage image = test::ntuple_of_all_kinds();
  const test::LittleBytes more = test::LittleBytes().put(std::uint64_t{0x1234567}).put_text("of later versions");
  const test::LittleBytes lists = test::list_frame({test::record_frame(more), test::record_frame(more)});
  for (auto* schema : {&image.schema, &image.extension}) {
    for (auto& field : schema->fields) field.of_later_versions = more;
    for (auto& column : schema->columns) column.of_later_versions = more;
  }
  for (auto& group : image.groups) {
    group.of_later_versions = more;
    for (auto& cluster : group.clusters) cluster.of_later_versions = more;
  }
  image.behind_header = image.behind_footer = image.behind_page_lists = lists;
  const auto table = open_table(image.finish());
  EXPECT_TRUE(table->warnings.empty());
  expect_all_kinds(*table);
}

TEST(NtupleDamage, AFooterOfAnotherHeaderRefusesTheTable) {
  NtupleImage image = two_pages();
  image.is_of_another_header = true;
  EXPECT_NE(reason_of(std::move(image)).find("another header"), std::string::npos);
}

// The middle one of three groups is damaged.
class LostGroup : public testing::Test {
 protected:
  LostGroup() {
    test::KindsFiller filler;
    for (auto& group : image.groups) group.clusters.clear();
    image.extension = {};
    image.groups.resize(3);
    for (auto& group : image.groups) group.clusters.push_back(filler.cluster(3, false));
  }
  void expect_lost(const std::string& why) {
    const auto table = open_table(image.finish());
    EXPECT_EQ(table->reason, "");
    EXPECT_EQ(table->clusters, (std::vector<std::int64_t>{0, 3, 6, 9}));
    ASSERT_EQ(table->warnings.size(), 1u);
    EXPECT_NE(table->warnings[0].find(why), std::string::npos) << table->warnings[0];
    for (const Column& column : table->columns) {
      const auto read = read_column(*table, column.path);
      if (column.path == "words/offsets.i8") continue;  // no page gives these
      EXPECT_FALSE(read.is_right()) << column.path;
      EXPECT_EQ(read.errors.front(), "") << column.path;
      EXPECT_EQ(read.errors.back(), "") << column.path;
    }
    EXPECT_EQ(read_column(*table, "x.f4").as<float>(), (std::vector<float>{0, 1, 2, 6, 7, 8}));
    // The items of lists continue where the next group begins.
    EXPECT_EQ(table->lengths(test::find_column(*table, "v/values.i4")->stream), (std::vector<std::int64_t>{18}));
    test::expect_survived(image.finish());
  }
  NtupleImage image = test::ntuple_of_all_kinds();
};

TEST_F(LostGroup, OfAnotherHeader) {
  image.groups[1].is_of_another_header = true;
  expect_lost("another header");
}
TEST_F(LostGroup, OfClustersInShards) {
  image.groups[1].clusters[0].flags = 1;
  expect_lost("shards");
}
TEST_F(LostGroup, WithAnotherNumberOfClusters) {
  image.groups[1].claimed_clusters = 2;
  expect_lost("page list");
}
TEST_F(LostGroup, ThatCannotBeFound) {
  image.groups[1].locator = LocatorKind::unknown;
  expect_lost("unknown kind of locator");
}
TEST_F(LostGroup, ThatBeginsElsewhere) {
  image.groups[1].clusters[0].first_entry = 4;
  image.groups[1].claimed_first = 3;
  expect_lost("begins at entry 4");
}
TEST_F(LostGroup, OtherFlagsOfClustersAreIgnored) {
  image.groups[1].clusters[0].flags = 0xFE;
  EXPECT_TRUE(open_table(image.finish())->warnings.empty());
}

TEST(NtupleDamage, PagesMayShareTheirBytes) {
  NtupleImage image = two_pages();
  image.finish();
  auto& pages = image.groups[0].clusters[0].columns[0].pages;
  pages[1].elements = 2;
  pages[1].claimed = {image.pages[0], 8};
  image.groups[0].clusters[0].entries = 4;
  const auto table = open_table(image.finish());
  EXPECT_EQ(numbers_of<std::int32_t>(*table, "x.i4"), (std::vector<std::int32_t>{1, 2, 1, 2}));
}

TEST(NtupleDamage, APageWithAWrongChecksumIsLostAlone) {
  NtupleImage image = two_pages();
  image.groups[0].clusters[0].columns[0].pages[0].with_wrong_checksum = true;
  const auto table = open_table(image.finish());
  const auto read = read_column(*table, "x.i4");
  EXPECT_NE(read.errors[0].find("checksum"), std::string::npos);
  EXPECT_EQ(read.as<std::int32_t>(), (std::vector<std::int32_t>{3, 4, 5}));
  image.groups[0].clusters[0].columns[0].pages[0].with_checksum = false;
  EXPECT_EQ(numbers_of<std::int32_t>(*open_table(image.finish()), "x.i4"), (std::vector<std::int32_t>{1, 2, 3, 4, 5}));
}

TEST(NtupleAttributes, OfAnUnknownSchemaHaveAReason) {
  NtupleImage image = two_pages();
  image.attribute_sets = {{"later", 2, {}}, {"itself", 1, {}}, {"nowhere", 1, ByteRange{UINT64_MAX / 2, 78}}};
  const auto file = File::open(test::in_memory(image.finish()));
  ASSERT_TRUE(file);
  const KeyInfo key = (*file)->root()->keys[0];
  auto sets = (*file)->attribute_sets(key);
  ASSERT_TRUE(sets);
  ASSERT_EQ((*sets)->keys.size(), 3u);
  EXPECT_NE((*sets)->keys[0].reason.find("schema version 2.0"), std::string::npos);
  EXPECT_NE((*(*file)->table((*sets)->keys[0]))->reason, "");
  // A set that refers to the table itself is the table again, as often as it is followed.
  const auto again = (*file)->attribute_sets((*sets)->keys[1]);
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->keys.size(), 3u);
  const auto table = (*file)->table((*sets)->keys[1]);
  ASSERT_TRUE(table);
  EXPECT_EQ(numbers_of<std::int32_t>(**table, "x.i4"), (std::vector<std::int32_t>{1, 2, 3, 4, 5}));
  EXPECT_FALSE((*file)->table((*sets)->keys[2]));
  EXPECT_TRUE((*file)->record_map());
}

// There are far too many ways through sets that contain each other to follow them all.
TEST(NtupleAttributes, ThatHoldEachOtherAreNamedOnce) {
  NtupleImage image = two_pages();
  for (int i = 0; i < 100; ++i) image.attribute_sets.push_back({"set" + std::to_string(i), 1, {}});
  const auto file = File::open(test::in_memory(image.finish()));
  ASSERT_TRUE(file);
  const auto records = (*file)->record_map();
  ASSERT_TRUE(records);
  EXPECT_TRUE(std::ranges::any_of(*records, [](const Record& record) { return record.name.ends_with(": header"); }));
}

}  // namespace
}  // namespace tfile
