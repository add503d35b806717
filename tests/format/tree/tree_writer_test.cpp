// SPDX-License-Identifier: Apache-2.0
#include "tree/write/tree_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>

#include "bytes/endian.h"
#include "format/source/memory_source.h"
#include "format/tree/tree_image.h"
#include "tree/record/tree_record.h"
#include "tree/write/branch_form.h"
#include "tree/write/tree_record_write.h"

namespace tfile {
namespace {

using test::TreeImage;
using Bytes = std::vector<std::byte>;
using Numbers = std::vector<std::int64_t>;

constexpr std::uint32_t kWrittenKeylen = 46;

template <class T>
Bytes little(std::initializer_list<T> values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}
Bytes offsets(std::initializer_list<std::int64_t> values) { return little(values); }
Bytes chars(std::string_view text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    text += "0123456789abcdef"[std::to_integer<int>(b) >> 4];
    text += "0123456789abcdef"[std::to_integer<int>(b) & 15];
  }
  return text;
}

std::vector<InputColumn> offered(const std::vector<std::string>& paths) {
  std::vector<InputColumn> columns;
  for (const std::string& path : paths) columns.push_back(*offered_column(path));
  return columns;
}

TreePlace place_of(Compression compression = {Compression::Algorithm::none, 0}) {
  TreePlace place;
  place.directory_seek = 100;
  place.name = "tree";
  place.title = "a title";
  place.compression = compression;
  place.datime = 0x41CCEB89;
  return place;
}

void add(TreeWriter& tree, const std::vector<std::string>& paths) {
  const auto columns = offered(paths);
  const auto form = tree_form(columns);
  ASSERT_TRUE(form) << form.error().text;
  ASSERT_TRUE(form->incomplete.empty()) << form->incomplete[0];
  const auto added = tree.add_fields(columns, *form);
  ASSERT_TRUE(added) << added.error().text;
}

Result<Part> encode(const TreeWriter& tree, std::size_t branch, EntryRange entries, const std::vector<Bytes>& columns) {
  const std::vector<std::span<const std::byte>> spans(columns.begin(), columns.end());
  return tree.encode(branch, {entries, spans, {}});
}

// Encodes the basket of the one branch that `paths` form.
Result<Part> encode(const std::vector<std::string>& paths, EntryRange entries, const std::vector<Bytes>& columns) {
  const auto tree = TreeWriter::create(place_of());
  add(*tree, paths);
  return encode(*tree, 0, entries, columns);
}

// The bytes after the key, in hex.
std::string payload(const Result<Part>& basket) {
  if (!basket) return basket.error().text;
  const auto keylen = load_big<std::int16_t>(basket->stored.data() + 14);
  return hex(basket->stored.span().subspan(static_cast<std::size_t>(keylen)));
}

TEST(EncodeBasket, TheKeyIsAsRootWritesIt) {
  const auto basket = encode({"x.f4"}, {0, 2}, {little({1.0F, 2.0F})});
  ASSERT_TRUE(basket);
  EXPECT_EQ(hex(basket->stored.span()),
            "0000004c"  // fNbytes
            "03ec"      // fVersion
            "00000008"  // fObjlen
            "41cceb89"
            "0044"              // fKeylen
            "0000"              // fCycle
            "0000000000000000"  // fSeekKey, still unknown
            "0000000000000064"  // fSeekPdir
            "075442"
            "61736b657401780474726565"  // TBasket, x, tree
            "0003"
            "0000004c"  // fBufferSize
            "00000004"  // fNevBufSize
            "00000002"  // fNevBuf
            "0000004c"  // fLast
            "00"
            "3f80000040000000");
  EXPECT_EQ(basket->entries, 2);
  EXPECT_EQ(basket->raw_bytes, 0x4c);
}

TEST(EncodeBasket, FixedShapesBooleansAndRecords) {
  EXPECT_EQ(payload(encode({"m.i2x2"}, {0, 2}, {little<std::int16_t>({1, 2, 3, 4})})), "0001000200030004");
  EXPECT_EQ(payload(encode({"b.b1"}, {0, 3}, {little<std::uint8_t>({0, 1, 7})})), "000101");
  EXPECT_EQ(payload(encode({"r/a.i1", "r/b.i4x2"}, {0, 2}, {little<std::int8_t>({1, 2}), little({3, 4, 5, 6})})),
            "010000000300000004"
            "020000000500000006");
}

TEST(EncodeBasket, CountedArraysHaveTheirItemsAndATableOfEntries) {
  const auto basket =
      encode({"a/offsets.i8", "a/values.i2", "na.u1"}, {5, 8},
             {little<std::uint8_t>({2, 0, 1}), offsets({10, 12, 12, 13}), little<std::int16_t>({1, 2, 3})});
  // Entries begin 68, 72 and 72 bytes after the start of the key.
  EXPECT_EQ(payload(basket),
            "000100020003"
            "00000004"
            "00000044"
            "00000048"
            "00000048"
            "00000000");
}

TEST(EncodeBasket, VectorsHaveAHeaderAnEntry) {
  EXPECT_EQ(
      payload(encode({"v/offsets.i8", "v/values.u1"}, {0, 2}, {offsets({0, 2, 2}), little<std::uint8_t>({8, 9})})),
      "40000008000a00000002"
      "0809"
      "40000006000a00000000"
      "00000003"
      "00000044"
      "00000050"
      "00000000");
  EXPECT_EQ(payload(encode({"v/offsets.i8", "v/values/offsets.i8", "v/values/values.u1"}, {0, 1},
                           {offsets({3, 5}), offsets({7, 8, 10}), little<std::uint8_t>({1, 2, 3})})),
            "40000011000a00000002"
            "00000001"
            "01"
            "00000002"
            "0203"
            "00000002"
            "00000044"
            "00000000");
  EXPECT_EQ(payload(encode({"v/offsets.i8", "v/values/offsets.i8", "v/values/chars.u1"}, {0, 1},
                           {offsets({0, 2}), offsets({0, 1, 1}), chars("x")})),
            "40000009000a00000002"
            "0178"
            "00"
            "00000002"
            "00000044"
            "00000000");
}

// The bytes after the key of a basket of a part, in hex.
std::string payload(const Part& part, std::size_t basket) {
  const Part::Unit& unit = part.units[basket];
  const auto stored = part.stored.span().subspan(unit.offset, unit.size);
  return hex(stored.subspan(static_cast<std::size_t>(load_big<std::int16_t>(stored.data() + 14))));
}

TEST(EncodeBasket, RecordsHaveABasketOfTheirNumbersAndOneForEachMember) {
  const auto columns = offered({"v/offsets.i8", "v/values/a.i2", "v/values/s/offsets.i8", "v/values/s/chars.u1",
                                "v/values/w/offsets.i8", "v/values/w/values.u1"});
  WriteSchema form;
  FieldForm& field = form.fields.emplace_back();  // as of a tree that ROOT has made
  field.kind = FieldForm::Kind::nested;
  field.name = "v";
  field.columns = field.encoded = {0, 1, 2, 3, 4, 5};
  field.lists = {FieldForm::kEachEntry, 0, 0, 2, 0, 4};
  const auto tree = TreeWriter::create(place_of());
  ASSERT_TRUE(tree->add_fields(columns, form));
  const auto part = encode(*tree, 0, {4, 6},
                           {offsets({5, 7, 7}), little<std::int16_t>({1, 2}), offsets({0, 1, 1}), chars("x"),
                            offsets({3, 3, 5}), little<std::uint8_t>({8, 9})});
  ASSERT_TRUE(part) << part.error().text;
  ASSERT_EQ(part->units.size(), 4U);
  EXPECT_EQ(part->largest, 2);
  EXPECT_EQ(payload(*part, 0),
            "0000000200000000"
            "00000003"
            "00000044"
            "00000048"
            "00000000");
  EXPECT_EQ(payload(*part, 1),
            "00010002"
            "00000003"
            "00000046"
            "0000004a"
            "00000000");
  // As ROOT writes members that are objects: a header an entry, without the number of records.
  EXPECT_EQ(payload(*part, 2),
            "40000005000a"
            "0178"
            "00"
            "40000002000a"
            "00000003"
            "00000046"
            "0000004f"
            "00000000");
  EXPECT_EQ(payload(*part, 3),
            "4000000c000a"
            "00000000"
            "00000002"
            "0809"
            "40000002000a"
            "00000003"
            "00000046"
            "00000056"
            "00000000");
}

const std::vector<std::string> kMap = {"m/offsets.i8", "m/values/key/offsets.i8", "m/values/key/chars.u1",
                                       "m/values/value.i8"};

TEST(EncodeBasket, AMapIsRecordsOfItsPairs) {
  const auto part = encode(kMap, {4, 6}, {offsets({5, 7, 7}), offsets({1, 2, 4}), chars("bac"), offsets({1, -1})});
  ASSERT_TRUE(part) << part.error().text;
  ASSERT_EQ(part->units.size(), 3U);
  EXPECT_EQ(payload(*part, 0).substr(0, 16), "0000000200000000");
  EXPECT_EQ(payload(*part, 1),
            "40000007000a"
            "0162"
            "026163"
            "40000002000a"
            "00000003"
            "0000004a"
            "00000055"
            "00000000");
  EXPECT_EQ(payload(*part, 2).substr(0, 32), "0000000000000001ffffffffffffffff");
}

TEST(EncodeBasket, AKeyOfAMapIsThereOnce) {
  const auto part = encode(kMap, {4, 6}, {offsets({5, 6, 8}), offsets({0, 1, 2, 3}), chars("aaa"), offsets({1, 2, 3})});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().text, "m, entry 5: duplicate key in a map");
  EXPECT_TRUE(encode(kMap, {4, 6}, {offsets({5, 6, 7}), offsets({0, 1, 2}), chars("aa"), offsets({1, 2})}));
}

// The bytes are those of ROOT's split objects.
TEST(EncodeBasket, AnObjectHasABasketForEachMember) {
  const auto part =
      encode({"r/a.i2", "r/b.u1x2", "r/s/offsets.i8", "r/s/chars.u1", "r/v/offsets.i8", "r/v/values.u1"}, {4, 6},
             {little<std::int16_t>({1, 2}), little<std::uint8_t>({3, 4, 5, 6}), offsets({5, 5, 6}), chars("x"),
              offsets({0, 2, 2}), little<std::uint8_t>({7, 8})});
  ASSERT_TRUE(part) << part.error().text;
  ASSERT_EQ(part->units.size(), 4U);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(part->units[i].stream, i + 1);  // it has none itself
  EXPECT_EQ(payload(*part, 0), "00010002");
  EXPECT_EQ(payload(*part, 1),
            "03040506"
            "00000003"
            "00000049"
            "0000004b"
            "00000000");
  EXPECT_EQ(payload(*part, 2).substr(0, 30),
            "40000003000a"
            "00"
            "40000004000a"
            "0178");
  EXPECT_EQ(payload(*part, 3).substr(0, 44),
            "40000008000a"
            "00000002"
            "0708"
            "40000006000a"
            "00000000");
}

TEST(EncodeBasket, RecordsSayWhichMemberIsWrong) {
  const auto part = encode({"v/offsets.i8", "v/values/a.i2"}, {4, 6}, {offsets({5, 7, 7}), little<std::int16_t>({1})});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().text, "v.a, entry 4: values have a different length than the offsets say");
}

TEST(EncodeBasket, TextsOf255BytesAndMoreHaveALongLength) {
  const std::string data = payload(
      encode({"s/offsets.i8", "s/chars.u1"}, {0, 3}, {offsets({0, 254, 254, 509}), chars(std::string(509, 'a'))}));
  EXPECT_EQ(data.substr(0, 4), "fe61");
  EXPECT_EQ(data.substr(2 * 255, 14), "00ff000000ff61");
}

TEST(EncodeBasket, SaysWhichEntryIsWrong) {
  const auto error = [](const Result<Part>& basket) { return basket ? "" : basket.error().text; };
  EXPECT_EQ(error(encode({"v/offsets.i8", "v/values.u1"}, {7, 9}, {offsets({0, 2, 1}), little<std::uint8_t>({8})})),
            "v, entry 8: offsets decrease");
  EXPECT_EQ(error(encode({"a/offsets.i8", "a/values.u1", "na.i4"}, {7, 9},
                         {little({1, 2}), offsets({0, 1, 2}), little<std::uint8_t>({8, 9})})),
            "a, entry 8: na is 2, the list has 1 items");
  EXPECT_NE(error(encode({"v/offsets.i8", "v/values.u1"}, {0, 1}, {offsets({-1, 1}), little<std::uint8_t>({8, 9})})),
            "");
  EXPECT_NE(error(encode({"v/offsets.i8", "v/values.u1"}, {0, 1}, {offsets({0, 2}), little<std::uint8_t>({8})})), "");
  EXPECT_NE(error(encode({"v/offsets.i8", "v/values.u1"}, {0, 1}, {offsets({0, 2, 2}), little<std::uint8_t>({8, 9})})),
            "");
  EXPECT_NE(error(encode({"v/offsets.i8", "v/values.u1"}, {0, 1}, {offsets({0, std::int64_t{1} << 40}), {}})), "");
  EXPECT_NE(error(encode({"x.f4"}, {0, 2}, {little({1.0F})})), "");
}

TEST(EncodeBasket, LengthsOfCounterAndCountedDiffer) {
  EXPECT_FALSE(encode({"a/offsets.i8", "a/values.u1", "na.i4"}, {0, 2},
                      {little({1}), offsets({0, 1, 2}), little<std::uint8_t>({8, 9})}));
}

TEST(Clusters, OfOneSizeAreTheOpenRange) {
  Clusters clusters;
  clusters.end_cluster(0, 100, 100);
  clusters.end_cluster(100, 200, 100);
  clusters.end_cluster(200, 230, 0);
  EXPECT_EQ(clusters.auto_flush, 100);
  EXPECT_TRUE(clusters.range_end.empty());
  // The next one begins where no cluster of 100 would begin.
  clusters.end_cluster(230, 330, 0);
  EXPECT_EQ(clusters.range_end, (Numbers{229}));
  EXPECT_EQ(clusters.range_size, (Numbers{100}));
  EXPECT_EQ(clusters.auto_flush, 100);
}

TEST(Clusters, OfAnotherSizeAreARangeOfTheirOwn) {
  Clusters clusters;
  clusters.end_cluster(0, 100, 100);
  clusters.end_cluster(100, 170, 70);
  clusters.end_cluster(170, 240, 70);
  EXPECT_EQ(clusters.range_end, (Numbers{99}));
  EXPECT_EQ(clusters.range_size, (Numbers{100}));
  EXPECT_EQ(clusters.auto_flush, 70);
  clusters.end_cluster(240, 400, 0);  // longer than announced
  EXPECT_EQ(clusters.range_end, (Numbers{99, 239}));
  EXPECT_EQ(clusters.auto_flush, 160);
}

TEST(Clusters, WithoutASizeAreARangeEach) {
  Clusters clusters;
  clusters.end_cluster(0, 30, 0);
  EXPECT_TRUE(clusters.range_end.empty());
  clusters.end_cluster(30, 50, 0);
  clusters.end_cluster(50, 60, 0);
  EXPECT_EQ(clusters.range_end, (Numbers{29, 49}));
  EXPECT_EQ(clusters.range_size, (Numbers{30, 20}));
  EXPECT_EQ(clusters.auto_flush, -30'000'000);
}

StreamerInfos no_written_infos() {
  std::vector<std::string> warnings;
  return StreamerInfos::read({}, 0, warnings);
}

TreeRecord read_written(const Bytes& record, std::uint32_t keylen = kWrittenKeylen) {
  auto tree = read_tree(record, keylen, "TTree", no_written_infos());
  EXPECT_TRUE(tree) << tree.error().text;
  if (!tree) return {};
  EXPECT_TRUE(tree->warnings.empty()) << tree->warnings.front();
  return *std::move(tree);
}

std::vector<std::string> names(const TreeRecord& tree) {
  std::vector<std::string> names;
  for (const BranchIndex branch : tree.top) names.push_back(tree.branches[branch].name);
  return names;
}

void put(TreeWriter& tree, std::size_t branch, EntryRange entries, const std::vector<Bytes>& columns,
         std::uint64_t address) {
  auto basket = encode(tree, branch, entries, columns);
  ASSERT_TRUE(basket) << basket.error().text;
  tree.add_part(branch, *basket, address);
}

const std::vector<std::string> kPaths = {"x.f4",     "Muon_pt/offsets.i8", "Muon_pt/values.f4",
                                         "nMuon.i4", "s/offsets.i8",       "s/chars.u1"};

void put_entries(TreeWriter& tree, std::int64_t begin, std::uint64_t address) {
  const EntryRange entries{begin, begin + 2};
  put(tree, 0, entries, {little({1.0F, 2.0F})}, address);
  put(tree, 1, entries, {little({3, 1}), offsets({0, 3, 4}), little({1.0F, 2.0F, 3.0F, 4.0F})}, address + 1000);
  put(tree, 2, entries, {little({3, 1})}, address + 2000);
  put(tree, 3, entries, {offsets({0, 1, 3}), chars("abc")}, address + 3000);
  tree.end_cluster(begin + 2, 2);
}

Bytes new_record() {
  const auto tree = TreeWriter::create(place_of());
  add(*tree, kPaths);
  put_entries(*tree, 0, 1000);
  auto record = tree->record(kWrittenKeylen);
  EXPECT_TRUE(record);
  return *record;
}

TEST(TreeWriter, ANewTreeReadsBack) {
  const TreeRecord tree = read_written(new_record());
  EXPECT_EQ(tree.name, "tree");
  EXPECT_EQ(tree.title, "a title");
  EXPECT_EQ(tree.entries, 2);
  EXPECT_EQ(tree.auto_flush, 2);
  // A counter comes before the branch that it counts, wherever it was offered.
  EXPECT_EQ(names(tree), (std::vector<std::string>{"x", "nMuon", "Muon_pt", "s"}));
  const BranchRecord& pt = tree.branches[tree.top[2]];
  EXPECT_EQ(pt.title, "Muon_pt[nMuon]/F");
  EXPECT_EQ(pt.baskets.seek, std::vector<std::uint64_t>{2000});
  EXPECT_EQ(pt.entries, 2);
  const LeafRecord& leaf = tree.leaves[pt.leaves[0]];
  ASSERT_TRUE(leaf.count);
  EXPECT_EQ(tree.leaves[*leaf.count].name, "nMuon");
  EXPECT_TRUE(tree.leaves[*leaf.count].is_range);
  std::int64_t total = 0;
  for (const BranchRecord& branch : tree.branches) total += branch.tot_bytes;
  EXPECT_EQ(tree.tot_bytes, total);
}

// Classes and checksums are those that ROOT 6.40 writes.
TEST(TreeWriter, AMapHasTheClassesOfRoot) {
  const struct {
    const char *value, *map, *pair;
    std::uint32_t map_checksum, pair_checksum;
  } kinds[] = {{"m/values/value.i4", "map<string,int>", "pair<string,int>", 1105518413, 979002738},
               {"m/values/value.i8", "map<string,long>", "pair<string,long>", 384951667, 1218828104},
               {"m/values/value.f4", "map<string,float>", "pair<string,float>", 682761401, 1809001054},
               {"m/values/value.f8", "map<string,double>", "pair<string,double>", 3605647467, 4204013746}};
  for (const auto& kind : kinds) {
    const auto tree = TreeWriter::create(place_of());
    add(*tree, {kMap[0], kMap[1], kMap[2], kind.value});
    ASSERT_EQ(tree->made_classes().size(), 1U);
    const StreamerInfo& pair = *tree->made_classes()[0];
    EXPECT_EQ(pair.class_name, kind.pair);
    EXPECT_EQ(pair.checksum, kind.pair_checksum) << kind.pair;
    const TreeRecord record = read_written(*tree->record(kWrittenKeylen));
    const BranchRecord& map = record.branches[record.top[0]];
    EXPECT_EQ(map.element_class, kind.map);
    EXPECT_EQ(map.checksum, kind.map_checksum) << kind.map;
    ASSERT_EQ(map.children.size(), 2U);
    EXPECT_EQ(record.branches[map.children[0]].name, "m.first");
    EXPECT_EQ(record.branches[map.children[1]].name, "m.second");
  }
}

TEST(TreeWriter, BranchesOfOtherLengthsAreNoRecord) {
  const auto tree = TreeWriter::create(place_of());
  add(*tree, {"x.f4", "y.f4"});
  put(*tree, 0, {0, 2}, {little({1.0F, 2.0F})}, 1000);
  tree->end_cluster(2, 2);
  EXPECT_FALSE(tree->record(kWrittenKeylen));
}

TEST(TreeWriter, OneNameIsOneBranch) {
  const auto tree = TreeWriter::create(place_of());
  add(*tree, {"x.f4"});
  const auto columns = offered({"x.i4"});
  const auto again = tree->add_fields(columns, *tree_form(columns));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::exists);
}

std::unique_ptr<TreeWriter> open(const Bytes& record, std::uint32_t keylen = kWrittenKeylen) {
  static const StreamerInfos infos = no_written_infos();
  // Keys of the baskets, since their lengths are read.
  Bytes file(8000);
  for (const auto& [address, length] : {std::pair<std::size_t, std::int16_t>{2000, 74}, {4000, 68}}) {
    store_big(file.data() + address + 14, length);
  }
  static std::vector<std::unique_ptr<test::MemorySource>> sources;
  sources.push_back(std::make_unique<test::MemorySource>(file));
  auto tree = TreeWriter::open(place_of(), record, keylen, "TTree", infos, *sources.back());
  EXPECT_TRUE(tree) << tree.error().text;
  return tree ? *std::move(tree) : nullptr;
}

TEST(TreeWriter, ATreeThatIsNotChangedKeepsItsBytes) {
  const Bytes record = new_record();
  EXPECT_EQ(hex(*open(record)->record(kWrittenKeylen)), hex(record));
  // In a key of another length, the references change and still lead to the right places.
  const Bytes moved = *open(record)->record(kWrittenKeylen + 10);
  EXPECT_EQ(moved.size(), record.size());
  EXPECT_EQ(names(read_written(moved, kWrittenKeylen + 10)), names(read_written(record)));
}

TEST(TreeWriter, EntriesAreAppended) {
  const auto tree = open(new_record());
  const CommittedForm& form = tree->committed_form();
  EXPECT_EQ(form.reason, "");
  ASSERT_EQ(form.fields.size(), 4u);
  ASSERT_TRUE(counter_of(form.fields[2]));
  EXPECT_EQ(form.columns[*counter_of(form.fields[2])].path, "nMuon.i4");
  EXPECT_EQ(form.columns[form.fields[2].columns[0]].path, "Muon_pt/offsets.i8");
  EXPECT_EQ(tree->committed_entries(), 2);
  const EntryRange entries{2, 4};
  put(*tree, 0, entries, {little({1.0F, 2.0F})}, 5000);
  put(*tree, 1, entries, {little({9, 0})}, 6000);
  put(*tree, 2, entries, {little({9, 0}), offsets({0, 9, 9}), Bytes(36)}, 6500);
  put(*tree, 3, entries, {offsets({0, 1, 3}), chars("abc")}, 7000);
  tree->end_cluster(4, 2);
  const TreeRecord record = read_written(*tree->record(kWrittenKeylen));
  EXPECT_EQ(record.entries, 4);
  for (const BranchIndex top : record.top) {
    const BranchRecord& branch = record.branches[top];
    EXPECT_EQ(branch.entries, 4) << branch.name;
    ASSERT_EQ(branch.baskets.seek.size(), 2u) << branch.name;
    EXPECT_EQ(*branch.baskets.entry, (Numbers{0, 2, 4})) << branch.name;
  }
  EXPECT_EQ(record.branches[record.top[2]].baskets.seek, (std::vector<std::uint64_t>{2000, 6500}));
  EXPECT_EQ(record.auto_flush, 2);
  EXPECT_TRUE(record.cluster_size.empty());
}

TEST(TreeWriter, EntriesForAPartOfTheBranchesAreNoRecord) {
  const auto tree = open(new_record());
  put(*tree, 0, {2, 4}, {little({1.0F, 2.0F})}, 5000);
  tree->end_cluster(4, 2);
  EXPECT_FALSE(tree->record(kWrittenKeylen));
}

TEST(TreeWriter, BranchesAreAddedBesideThoseThere) {
  const auto tree = open(new_record());
  add(*tree, {"Jet_x/offsets.i8", "Jet_x/values.i4", "nJet.u4", "v/offsets.i8", "v/values.f8"});
  const std::size_t first = tree->committed_form().fields.size();
  put(*tree, first, {0, 2}, {little<std::uint32_t>({1, 0}), offsets({0, 1, 1}), little({5})}, 5000);
  put(*tree, first + 1, {0, 2}, {little<std::uint32_t>({1, 0})}, 6000);
  put(*tree, first + 2, {0, 2}, {offsets({0, 1, 1}), little({5.0})}, 7000);
  tree->end_cluster(2, 0);
  const TreeRecord record = read_written(*tree->record(kWrittenKeylen));
  EXPECT_EQ(names(record), (std::vector<std::string>{"x", "nMuon", "Muon_pt", "s", "nJet", "Jet_x", "v"}));
  EXPECT_EQ(record.leaves.size(), 7u);
  EXPECT_EQ(record.branches[record.top[6]].element_class, "vector<double>");
  const auto& count = record.leaves[record.branches[record.top[5]].leaves[0]].count;
  ASSERT_TRUE(count);
  EXPECT_EQ(record.leaves[*count].name, "nJet");
  EXPECT_EQ(record.branches[record.top[2]].baskets.seek, std::vector<std::uint64_t>{2000}) << "old ones stay";
}

TEST(TreeWriter, BranchesAreDropped) {
  const Bytes whole = new_record();
  const auto tree = open(whole);
  EXPECT_EQ(tree->drop_field("y").error().kind, ErrorKind::not_found);
  ASSERT_TRUE(tree->drop_field("x"));
  EXPECT_FALSE(tree->drop_field("x"));
  const Bytes bytes = *tree->record(kWrittenKeylen);
  const TreeRecord record = read_written(bytes);
  EXPECT_EQ(names(record), (std::vector<std::string>{"nMuon", "Muon_pt", "s"}));
  EXPECT_EQ(record.leaves.size(), 3u);
  EXPECT_LT(record.tot_bytes, read_written(whole).tot_bytes);
  // The omitted objects named the classes of the others.
  EXPECT_EQ(hex(*open(bytes)->record(kWrittenKeylen)), hex(bytes));
}

TEST(TreeWriter, ACounterGoesWithTheLastThatItCounts) {
  const auto tree = open(new_record());
  ASSERT_TRUE(tree->drop_field("nMuon"));
  EXPECT_EQ(names(read_written(*tree->record(kWrittenKeylen))),
            (std::vector<std::string>{"x", "nMuon", "Muon_pt", "s"}));
  ASSERT_TRUE(tree->drop_field("Muon_pt"));
  EXPECT_EQ(names(read_written(*tree->record(kWrittenKeylen))), (std::vector<std::string>{"x", "s"}));
}

// ROOT stores the counting leaf where it is first referred to: in the array, if that comes first.
TEST(TreeWriter, ALeafThatStandsInADroppedBranchIsKept) {
  TreeImage image(kWrittenKeylen);
  std::uint32_t counter = 0;
  TreeImage::Branch array, count;
  array.name = "a";
  array.title = "a[n]/F";
  array.entry_offset_len = 1000;
  array.leaves = {[&] {
    image.put_leaf({.name = "a", .title = "a[n]", .count = [&] {
                      counter = image.put_leaf({.class_name = "TLeafI", .name = "n", .title = "n", .is_range = true});
                    }});
  }};
  count.name = "n";
  count.title = "n/I";
  count.leaves = {[&] { image.put(counter); }};
  TreeImage::Tree tree;
  tree.name = "tree";
  tree.branches = {[&] { image.put_branch(array); }, [&] { image.put_branch(count); }};
  tree.leaves = {[&] { image.put(counter); }};
  image.put_tree(tree);

  const auto opened = open(image.all(), image.origin());
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(hex(*opened->record(image.origin())), hex(image.all()));
  ASSERT_TRUE(opened->drop_field("n"));
  EXPECT_EQ(names(read_written(*opened->record(kWrittenKeylen))), (std::vector<std::string>{"a", "n"}));
  const auto other = open(image.all(), image.origin());
  ASSERT_TRUE(other->drop_field("a"));
  const TreeRecord record = read_written(*other->record(kWrittenKeylen));
  EXPECT_EQ(names(record), std::vector<std::string>{"n"});
  ASSERT_EQ(record.branches[record.top[0]].leaves.size(), 1u);
  EXPECT_EQ(record.leaves[record.branches[record.top[0]].leaves[0]].name, "n");
}

TEST(TreeWriter, ARenamedTreeKeepsTheRest) {
  const auto tree = open(new_record());
  tree->rename("a much longer name");
  const TreeRecord record = read_written(*tree->record(kWrittenKeylen + 14), kWrittenKeylen + 14);
  EXPECT_EQ(record.name, "a much longer name");
  EXPECT_EQ(names(record).size(), 4u);
  EXPECT_EQ(record.leaves.size(), 4u);
}

TEST(TreeWriter, RecordsThatCannotBeFollowedAreRefused) {
  Bytes record = new_record();
  // A byte count that ends in the middle of something else.
  store_big(record.data() + 6, std::uint32_t{0x40000001});
  static const StreamerInfos infos = no_written_infos();
  const test::MemorySource source({});
  EXPECT_FALSE(TreeWriter::open(place_of(), record, kWrittenKeylen, "TTree", infos, source));
  for (std::size_t size = 0; size < record.size(); size += 7) {
    EXPECT_FALSE(TreeWriter::open(place_of(), std::span(record).first(size), kWrittenKeylen, "TTree", infos, source));
  }
}

}  // namespace
}  // namespace tfile
