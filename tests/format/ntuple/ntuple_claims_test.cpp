// SPDX-License-Identifier: Apache-2.0
// Impossible sizes, counts and addresses: each is refused, or loses only the data that it concerns, with little memory
// and time.
#include <gtest/gtest.h>

#include "format/ntuple/ntuple_kinds.h"
#include "format/ntuple/read_image.h"
#include "format/streamer/streamer_info_image.h"

namespace tfile {
namespace {

using test::ClusterImage;
using test::expect_survived;
using test::LittleBytes;
using test::NtupleImage;
using test::open_table;
using test::page_of;
using test::read_column;

// The three kinds of envelope, by the function that changes the payload.
using ChangeOf = NtupleImage::Change NtupleImage::*;
constexpr ChangeOf kEnvelopes[] = {&NtupleImage::change_header, &NtupleImage::change_footer,
                                   &NtupleImage::change_page_list};

std::size_t payload_size(ChangeOf which) {
  NtupleImage image = test::ntuple_of_all_kinds();
  std::size_t size = 0;
  image.*which = [&](LittleBytes& payload) { size = std::max(size, payload.size()); };
  image.finish();
  return size;
}

// Whether a frame with a valid size may begin here.
bool is_frame(const LittleBytes& payload, std::size_t at) {
  if (at + 8 > payload.size()) return false;
  const auto size = load_little<std::int64_t>(payload.all().data() + at);
  const std::int64_t most = static_cast<std::int64_t>(payload.size() - at);
  return (size >= 8 && size <= most) || (size <= -12 && size >= -most);
}

TEST(NtupleClaims, FramesOfEverySize) {
  for (const ChangeOf which : kEnvelopes) {
    NtupleImage image = test::ntuple_of_all_kinds();
    const std::size_t size = payload_size(which);
    for (std::size_t at = 0; at < size; ++at) {
      bool was_frame = true;
      for (const std::int64_t value :
           {std::int64_t{0}, std::int64_t{7}, std::int64_t{-1}, std::int64_t{-12}, INT64_MIN, INT64_MAX}) {
        if (!was_frame) break;
        was_frame = false;
        image.*which = [&](LittleBytes& payload) {
          if (!is_frame(payload, at)) return;
          was_frame = true;
          payload.patch(at, value);
        };
        const auto bytes = image.finish();
        if (was_frame) expect_survived(bytes);
      }
    }
  }
}

// Every place in turn gets one of the numbers, whatever it means.
TEST(NtupleClaims, NumbersOfEverySize) {
  constexpr std::int32_t kNumbers[] = {0, -1, INT32_MIN, INT32_MAX, 7, 1 << 20, 1};
  for (const ChangeOf which : kEnvelopes) {
    NtupleImage image = test::ntuple_of_all_kinds();
    const std::size_t size = payload_size(which);
    for (std::size_t at = 0; at + 4 <= size; ++at) {
      image.*which = [&](LittleBytes& payload) {
        if (at + 4 <= payload.size()) payload.patch(at, kNumbers[at % std::size(kNumbers)]);
      };
      expect_survived(image.finish());
    }
  }
}

TEST(NtupleClaims, EnvelopesCutAnywhere) {
  for (const ChangeOf which : kEnvelopes) {
    const std::size_t size = payload_size(which);
    NtupleImage image = test::ntuple_of_all_kinds();
    for (std::size_t cut = 0; cut < size; ++cut) {
      image.*which = [&](LittleBytes& payload) { payload.all().resize(std::min(payload.size(), cut)); };
      expect_survived(image.finish());
      if (which == &NtupleImage::change_page_list) continue;
      // Only the list of attribute sets may be missing as a whole, as before version 1.0.1.0.
      const bool is_without_sets = which == &NtupleImage::change_footer && cut == size - 12;
      EXPECT_EQ(open_table(image.finish())->reason.empty(), is_without_sets) << cut << " of " << size;
    }
  }
}

TEST(NtupleClaims, AnchorsOfEverySize) {
  NtupleImage image = test::ntuple_of_all_kinds();
  for (const bool of_footer : {false, true}) {
    for (const auto member : {&test::EnvelopeImage::begin, &test::EnvelopeImage::size, &test::EnvelopeImage::length}) {
      for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{15}, std::uint64_t{1} << 31,
                                        std::uint64_t{1} << 48, UINT64_MAX / 2, UINT64_MAX - 8, UINT64_MAX}) {
        image.change_anchor = [&](test::EnvelopeImage& header, test::EnvelopeImage& footer) {
          test::EnvelopeImage& changed = of_footer ? footer : header;
          changed.*member = value;
        };
        const auto table = open_table(image.finish());
        EXPECT_NE(table->reason, "") << value;
      }
    }
  }
}

TEST(NtupleClaims, MaxKeySizesOfEverySize) {
  NtupleImage image = test::ntuple_of_all_kinds();
  for (const std::uint64_t size : {0u, 1u, 8u, 16u, 17u, 24u, 40u, 100u, 1000u}) {
    image.max_key_size = size;
    expect_survived(image.finish());
  }
}

// A table with a column of numbers and a column of lists. Tests change its only cluster.
class Claims : public testing::Test {
 protected:
  Claims() {
    image.schema.fields = {{.name = "x", .type_name = "std::int32_t"},
                           {.name = "v", .type_name = "std::vector<std::int32_t>", .role = 1},
                           {.name = "_0", .type_name = "std::int32_t", .parent = 1}};
    image.schema.columns = {{0x07, 32, 0}, {0x0F, 64, 1}, {0x07, 32, 2}};
    ClusterImage first;
    first.entries = 2;
    first.columns.resize(3);
    first.columns[0].pages = {{2, page_of<std::int32_t>({1, 2})}};
    first.columns[1].pages = {{2, page_of<std::uint64_t>({1, 2})}};
    first.columns[2].pages = {{2, page_of<std::int32_t>({3, 4})}};
    image.groups = {{{first}}};
  }
  ClusterImage& cluster() { return image.groups[0].clusters[0]; }
  auto& page(std::size_t column) { return cluster().columns[column].pages[0]; }
  std::string reason() { return open_table(image.finish())->reason; }

  NtupleImage image;
};

TEST_F(Claims, ElementsThatNoPageHasRoomFor) {
  const NtupleImage honest = image;
  for (const std::int32_t elements : {3, 1 << 20, INT32_MAX, INT32_MIN}) {
    for (std::size_t column = 0; column < 3; ++column) {
      image = honest;
      page(column).elements = elements;
      expect_survived(image.finish());
      const auto table = open_table(image.finish());
      EXPECT_EQ(table->entries, 2);
      const auto read = read_column(*table, table->columns[column].path);
      // The number of items lost with the last page list is unknown.
      EXPECT_FALSE(read.is_right() && (column < 2 || elements != INT32_MIN)) << elements;
    }
  }
}

// Lists of fixed length are computed without data, but not for entries that do not exist.
TEST_F(Claims, FixedArraysOfEntriesThatAreNotThere) {
  image.schema.fields.push_back({.name = "a", .type_name = "std::array<std::string,2>", .array_size = 2});
  image.schema.fields.push_back({.name = "_0", .type_name = "std::string", .parent = 3});
  image.schema.columns.push_back({0x0E, 32, 4});
  image.schema.columns.push_back({0x02, 8, 4});
  cluster().columns.resize(5);
  cluster().columns[3].pages = {{4, page_of<std::uint32_t>({0, 1, 2, 3})}};
  cluster().columns[4].pages = {{3, page_of<char>({'a', 'b', 'c'})}};
  EXPECT_EQ(test::numbers_of<std::int64_t>(*open_table(image.finish()), "a/offsets.i8"),
            (std::vector<std::int64_t>{0, 2, 4}));
  cluster().entries = 1 << 23;
  const auto table = open_table(image.finish());
  const auto read = read_column(*table, "a/offsets.i8");
  ASSERT_EQ(read.errors.size(), 64u);
  EXPECT_EQ(read.errors[0], "");
  EXPECT_EQ(std::ranges::count(read.errors, ""), 1);
  expect_survived(image.finish());
}

// More numbers than entries; all numbers are stored.
TEST_F(Claims, ElementsBehindTheLastEntry) {
  page(0) = {3, page_of<std::int32_t>({1, 2, 3})};
  const auto table = open_table(image.finish());
  ASSERT_EQ(table->warnings.size(), 1u);
  EXPECT_EQ(table->entries, 2);
  EXPECT_EQ(table->lengths(table->columns[0].stream), (std::vector<std::int64_t>{2}));
  expect_survived(image.finish());
}

// The first columns are added before the damage is found.
TEST_F(Claims, AClusterThatIsDamagedInItsSecondColumn) {
  image.groups[0].claimed_entries = 0;
  page(1).elements = INT32_MIN;
  const auto table = open_table(image.finish());
  EXPECT_EQ(table->clusters, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(read_column(*table, "x.i4").as<std::int32_t>(), (std::vector<std::int32_t>{1, 2}));
  EXPECT_FALSE(read_column(*table, "v/offsets.i8").is_right());
  expect_survived(image.finish());
}

TEST_F(Claims, EntriesThatCannotBe) {
  for (const std::uint64_t entries : {std::uint64_t{1} << 41, (std::uint64_t{1} << 56) - 1}) {
    cluster().entries = entries;
    EXPECT_NE(reason(), "");
    expect_survived(image.finish());
  }
  // Lost pages represent the entries that may exist.
  cluster().entries = std::uint64_t{1} << 39;
  const auto table = open_table(image.finish());
  EXPECT_EQ(table->reason, "");
  EXPECT_EQ(table->lengths(table->columns[0].stream), (std::vector<std::int64_t>{std::int64_t{1} << 39}));
  expect_survived(image.finish());
}
TEST_F(Claims, EntriesOfALostGroup) {
  image.groups[0].is_of_another_header = true;
  for (const std::uint64_t claimed : {std::uint64_t{1} << 56, UINT64_MAX}) {
    image.groups[0].claimed_entries = claimed;
    EXPECT_NE(reason(), "");
    image.groups[0].claimed_entries = 2;
    image.groups[0].claimed_first = claimed;
    EXPECT_NE(reason(), "");
    image.groups[0].claimed_first.reset();
  }
}

TEST_F(Claims, FirstElementsThatCannotBe) {
  const NtupleImage honest = image;
  for (const std::int64_t first : {std::int64_t{1} << 41, std::int64_t{1} << 62, INT64_MAX}) {
    for (std::size_t column = 0; column < 3; ++column) {
      image = honest;
      cluster().columns[column].first_element = first;
      const auto table = open_table(image.finish());
      EXPECT_EQ(table->reason, "");
      EXPECT_EQ(table->warnings.size(), 1u);
      EXPECT_FALSE(read_column(*table, table->columns[column].path).is_right() && column < 2);
      expect_survived(image.finish());
    }
  }
}

TEST_F(Claims, APageOfMoreElementsThanItsBytesCanHoldIsLost) {
  cluster().columns[0].pages[0].elements = 1'000'000'000;
  const auto read = read_column(*open_table(image.finish()), open_table(image.finish())->columns[0].path);
  ASSERT_FALSE(read.errors.empty());
  EXPECT_NE(read.errors[0].find("was lost"), std::string::npos) << read.errors[0];
  expect_survived(image.finish());
}

// Many columns claim as many elements as allowed: their representation must be small.
TEST_F(Claims, DeferredColumnsThatBeginNowhere) {
  for (const std::int64_t first : {std::int64_t{1} << 39, std::int64_t{1} << 62, INT64_MAX}) {
    NtupleImage many;
    ClusterImage cluster;
    cluster.entries = std::uint64_t{1} << 39;
    for (std::uint32_t i = 0; i < 100; ++i) {
      many.schema.fields.push_back({.name = "f" + std::to_string(i), .type_name = "float"});
      many.schema.columns.push_back({0x0C, 32, i, 0, first});
      cluster.columns.push_back({std::int64_t{1} << 39, {}});
    }
    many.groups = {{{cluster}}};
    expect_survived(many.finish(), 4 << 20);
    for (auto& column : cluster.columns) column.is_suppressed = true;
    many.groups = {{{cluster}}};
    expect_survived(many.finish(), 4 << 20);
  }
}

TEST_F(Claims, AColumnOfLaterThanTheLastClusterIsZero) {
  image.extension.fields = {{.name = "late", .type_name = "std::int16_t"}};
  image.extension.columns = {{0x05, 16, 3, 0, 2}};
  EXPECT_EQ(test::numbers_of<std::int16_t>(*open_table(image.finish()), "late.i2"), (std::vector<std::int16_t>{0, 0}));
}

TEST_F(Claims, PagesBeyondTheFile) {
  const NtupleImage honest = image;
  for (const ByteRange range : {ByteRange{1 << 20, 8}, ByteRange{0, INT32_MAX}, ByteRange{UINT64_MAX - 3, 8},
                                ByteRange{std::uint64_t{1} << 48, 8}, ByteRange{0, 0}, ByteRange{0, 7}}) {
    for (std::size_t column = 0; column < 3; ++column) {
      for (const auto kind : {test::LocatorKind::standard, test::LocatorKind::large}) {
        image = honest;
        page(column).claimed = range;
        page(column).locator = kind;
        const auto table = open_table(image.finish());
        EXPECT_FALSE(read_column(*table, table->columns[column].path).is_right());
        expect_survived(image.finish());
      }
    }
  }
  page(0).claimed = {0, UINT64_MAX};
  page(0).locator = test::LocatorKind::large;
  EXPECT_FALSE(read_column(*open_table(image.finish()), "x.i4").is_right());
}

TEST_F(Claims, ParentsThatAreNotThere) {
  const NtupleImage honest = image;
  for (const std::uint32_t parent : {3u, 2u, 1u << 30, UINT32_MAX}) {
    image = honest;
    image.schema.fields[parent == 2 ? 1 : 2].parent = parent;  // 2: its own child
    EXPECT_NE(reason(), "") << parent;
    image = honest;
    image.schema.columns[2].field = parent == 2 ? 3 : parent;
    EXPECT_NE(reason(), "") << parent;
    image = honest;
    image.schema.aliases = {{parent == 2 ? 3 : parent, 0}};
    EXPECT_NE(reason(), "") << parent;
    image.schema.aliases = {{0, parent == 2 ? 3 : parent}};
    EXPECT_NE(reason(), "") << parent;
  }
  image = honest;
  image.schema.fields[0].projected_from = 0;  // projects itself
  expect_survived(image.finish());
}

TEST_F(Claims, ArraysThatAreTooLong) {
  const NtupleImage honest = image;
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1} << 28, (std::uint64_t{1} << 28) + 1,
                                   std::uint64_t{1} << 32, std::uint64_t{1} << 40, UINT64_MAX}) {
    for (const std::string item : {"", "float", "std::string"}) {
      image = honest;
      const auto array = static_cast<std::uint32_t>(image.schema.fields.size());
      image.schema.fields.push_back({.name = "a", .type_name = "array", .array_size = size});
      if (!item.empty()) image.schema.fields.push_back({.name = "_0", .type_name = item, .parent = array});
      image.schema.columns.push_back({0x0E, 32, item.empty() ? array : array + 1});
      if (item == "std::string") image.schema.columns.push_back({0x02, 8, array + 1});
      if (item != "std::string") image.schema.columns.back() = {0x0C, 32, item.empty() ? array : array + 1};
      const auto table = open_table(image.finish());
      EXPECT_EQ(table->reason, "") << size;
      EXPECT_EQ(read_column(*table, "x.i4").as<std::int32_t>(), (std::vector<std::int32_t>{1, 2}));
      if (size > 1 << 28) {
        EXPECT_EQ(table->columns.size(), 3u) << size << item;
      }
      expect_survived(image.finish());
    }
  }
}

// Each array has more items than the last, and the product wraps around.
TEST_F(Claims, ArraysOfArraysThatAreTooLong) {
  for (const std::uint64_t size : {std::uint64_t{1} << 16, std::uint64_t{0xFFFFFFF}, std::uint64_t{3}}) {
    NtupleImage deep;
    for (std::uint32_t id = 0; id < 70; ++id)
      deep.schema.fields.push_back(
          {.name = "a", .type_name = "array", .parent = id == 0 ? 0 : id - 1, .array_size = size});
    deep.schema.fields.push_back({.name = "_0", .type_name = "float", .parent = 69});
    deep.schema.columns = {{0x0C, 32, 70}};
    ClusterImage cluster;
    cluster.entries = 3;
    cluster.columns.resize(1);
    deep.groups = {{{cluster}}};
    EXPECT_TRUE(open_table(deep.finish())->columns.empty());
    expect_survived(deep.finish());
  }
}

// Records in records without end; each also has a column with a long qualified name.
TEST_F(Claims, FieldsThatNestWithoutEnd) {
  for (const std::uint16_t role : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{3}}) {
    NtupleImage deep;
    for (std::uint32_t id = 0; id < 20'000; ++id) {
      deep.schema.fields.push_back({.name = "field", .type_name = "T", .parent = id == 0 ? 0 : id - 1, .role = role});
      deep.schema.columns.push_back({0x0F, 64, id});
    }
    const auto file = File::open(test::in_memory(deep.finish()));
    ASSERT_TRUE(file);
    const auto table = (*file)->table((*file)->root()->keys[0]);
    ASSERT_TRUE(table);
    EXPECT_LE((*table)->columns.size(), 70u);
    EXPECT_TRUE((*file)->record_map());
  }
}

// Looking at one field must not pass over all others.
TEST_F(Claims, ManyFieldsThatShowOne) {
  constexpr std::uint32_t kFields = 30'000;
  NtupleImage many;
  many.schema.fields = {{.name = "v", .type_name = "std::vector<T>", .role = 1},
                        {.name = "_0", .type_name = "T", .parent = 0, .role = 2}};
  many.schema.columns = {{0x0F, 64, 0}};
  for (std::uint32_t i = 0; i < kFields; ++i)
    many.schema.fields.push_back({.name = "r", .type_name = "Empty", .parent = 1, .role = 2});
  for (std::uint32_t i = 0; i < kFields; ++i) {
    const auto id = static_cast<std::uint32_t>(many.schema.fields.size());
    many.schema.fields.push_back(
        {.name = "n" + std::to_string(i), .type_name = "ROOT::RNTupleCardinality<std::uint32_t>", .projected_from = 0});
    many.schema.aliases.push_back({0, id});
    many.schema.columns.push_back({0x7777, 32, 1});  // columns of one field, all unknown
    many.schema.aliases.push_back({i + 1, kFields + 2});
  }
  expect_survived(many.finish(), 64 << 20);
}

// The class of a streamer field: one integer.
std::string streamer_infos() {
  StreamerElement element;
  element.name = "id";
  element.type = element_type::kInt;
  element.type_name = "int";
  element.kind = ElementKind::basic;
  StreamerInfo info;
  info.class_name = "Hit";
  info.version = 1;
  info.elements = {element};
  test::Bytes header;
  header.put(std::uint32_t{0x40000000});
  header.put(UINT32_MAX);  // a new class
  header.put_text("TList");
  header.put(std::uint8_t{0});
  const auto list = test::streamer_info_record(std::span(&info, 1), static_cast<std::uint32_t>(header.size()));
  std::string text(reinterpret_cast<const char*>(header.all().data()), header.size());
  return text.append(reinterpret_cast<const char*>(list.all().data()), list.size());
}

TEST_F(Claims, NoClusters) {
  image.schema.streamer_infos = streamer_infos();
  image.schema.fields.push_back({.name = "hit", .type_name = "Hit", .role = 4});
  image.schema.columns.push_back({0x0F, 64, 3});
  image.schema.columns.push_back({0x01, 8, 3});
  for (const bool without_groups : {false, true}) {
    image.groups[0].clusters.clear();
    if (without_groups) image.groups.clear();
    const auto table = open_table(image.finish());
    EXPECT_EQ(table->entries, 0);
    EXPECT_EQ(test::numbers_of<std::int64_t>(*table, "v/offsets.i8").size(), 1u);
    const Column* streamed = test::find_column(*table, "hit/id.i4");
    ASSERT_TRUE(streamed);
    EXPECT_EQ(table->chunk_entries({streamed->stream, 0}), (EntryRange{0, 0}));
    expect_survived(image.finish());
  }
}

// Items that no list has would fall to the first list of the next cluster, and items of two lists are in neither.
TEST_F(Claims, ListsThatEndBeforeOrBehindTheItemsOfTheirCluster) {
  ClusterImage second = cluster();
  second.first_entry = 2;
  for (auto& column : second.columns) column.first_element = 2;
  image.groups[0].clusters.push_back(second);
  EXPECT_EQ(test::numbers_of<std::int64_t>(*open_table(image.finish()), "v/offsets.i8"),
            (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  for (const std::uint64_t end : {1, 3}) {
    page(1).bytes = page_of<std::uint64_t>({1, end});
    const auto read = read_column(*open_table(image.finish()), "v/offsets.i8");
    ASSERT_EQ(read.errors.size(), 2u);
    EXPECT_EQ(read.errors[0], "page 0: the lists of cluster 0 end at item " + std::to_string(end) + ", its items at 2");
    EXPECT_EQ(read.errors[1], "");
    expect_survived(image.finish());
  }
}

// The end of the lists before those of a page is known only from an earlier page.
TEST_F(Claims, PagesOfNothing) {
  image.schema.fields.push_back(
      {.name = "n", .type_name = "ROOT::RNTupleCardinality<std::uint32_t>", .projected_from = 1});
  image.schema.aliases = {{1, 3}};
  cluster().columns[1].pages = {{0, {}}, {1, page_of<std::uint64_t>({1})}, {0, {}},
                                {0, {}}, {1, page_of<std::uint64_t>({2})}, {0, {}}};
  const auto table = open_table(image.finish());
  EXPECT_EQ(test::numbers_of<std::uint32_t>(*table, "n.u4"), (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(test::numbers_of<std::int64_t>(*table, "v/offsets.i8"), (std::vector<std::int64_t>{0, 1, 2}));
  expect_survived(image.finish());
}

}  // namespace
}  // namespace tfile
