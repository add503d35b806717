// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/length_field.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "format/model/offered_numbers.h"
#include "ntuple/write/field_removal.h"
#include "ntuple/write/ntuple_form.h"
#include "ntuple/write/schema_encode.h"
#include "ntuple/write/stored_columns.h"

namespace tfile {
namespace {

using Numbers = std::vector<std::int64_t>;
using Offered = OfferedNumbers;

std::string counted_by(const Offered& all, std::string_view path) {
  std::vector<InputColumn> columns = columns_of(all);
  find_list_lengths(columns, entries_of(all, columns));
  return std::ranges::find(columns, path, &InputColumn::path)->counts;
}

std::vector<std::byte> bytes_of(const Numbers& numbers, Dtype dtype) {
  std::vector<std::byte> bytes(numbers.size() * size_of(dtype));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    std::memcpy(bytes.data() + i * size_of(dtype), &numbers[i], size_of(dtype));
  return bytes;
}

TEST(LengthField, ItsNumbersAreTheLengthsOfTheListThatItsNameTells) {
  const Offered muons = {{"nMuon.u4", {1, 0, 3}},         {"Muon_tight_id/offsets.i8", {0, 1, 1, 4}},
                         {"Muon_tight_id/values.i4", {}}, {"nMuon_tight.u8", {1, 0, 3}},
                         {"nOther.u4", {1, 0, 3}},        {"nMuon_tight_id.u4", {1, 0, 2}}};
  EXPECT_EQ(counted_by(muons, "nMuon.u4"), "Muon_tight_id/offsets.i8");
  EXPECT_EQ(counted_by(muons, "nMuon_tight.u8"), "Muon_tight_id/offsets.i8");
  EXPECT_EQ(counted_by(muons, "nMuon_tight_id.u4"), "");
  EXPECT_EQ(counted_by(muons, "nOther.u4"), "");
  const Offered both = {{"v_a/offsets.i8", {0, 1}},
                        {"v_a/values.f4", {}},
                        {"v/offsets.i8", {0, 1}},
                        {"v/values/x.f4", {}},
                        {"nv.u4", {1}}};
  EXPECT_EQ(counted_by(both, "nv.u4"), "v/offsets.i8");
}

TEST(LengthField, OtherColumnsStayColumns) {
  const Offered list = {{"v/offsets.i8", {0, 1, 3}}, {"v/values.f4", {}}};
  const auto with = [&](const char* path, Numbers numbers) {
    Offered all = list;
    all.emplace_back(path, std::move(numbers));
    return counted_by(all, path);
  };
  EXPECT_EQ(with("nv.u4", {1, 2}), "v/offsets.i8");
  EXPECT_EQ(with("nv.i4", {1, 2}), "");
  EXPECT_EQ(with("nv.u2", {1, 2}), "");
  EXPECT_EQ(with("nv.u4x1", {1, 2}), "");
  EXPECT_EQ(with("r/nv.u4", {1, 2}), "");
  EXPECT_EQ(with("nv.u4", {1, 1}), "");
  EXPECT_EQ(with("nv.u4", {1}), "v/offsets.i8");        // the rest is still to come
  EXPECT_EQ(with("nv.u4", {1, 2, 9}), "v/offsets.i8");  // the same
  EXPECT_EQ(with("nv.u4", {}), "");
  EXPECT_EQ(counted_by({{"v/offsets.i8", {0}}, {"v/values.f4", {}}, {"nv.u4", {}}}, "nv.u4"),
            "v/offsets.i8");  // names alone
  EXPECT_EQ(counted_by({{"s/offsets.i8", {0, 1}}, {"s/chars.u1", {}}, {"ns.u4", {1}}}, "ns.u4"), "");
  EXPECT_EQ(counted_by({{"v/offsets.i8", {0, 1}}, {"nv.u4", {1}}}, "nv.u4"), "");  // its items may be characters yet
  std::vector<InputColumn> columns = columns_of({{"v/offsets.i8", {}}, {"v/values.f4", {}}, {"nv.u4", {}}});
  find_list_lengths(columns, {[](std::uint32_t) { return std::int64_t{1}; },
                              [](std::uint32_t, std::int64_t, std::span<std::byte>) { return false; }});
  EXPECT_EQ(columns[2].counts, "");
}

// A number before its list, the list, a text, and another number.
std::vector<InputColumn> counted_columns() {
  std::vector<InputColumn> columns = columns_of({{"nv.u4", {}},
                                                 {"v/offsets.i8", {}},
                                                 {"v/values.f4", {}},
                                                 {"s/offsets.i8", {}},
                                                 {"s/chars.u1", {}},
                                                 {"x.u8", {}}});
  columns[0].counts = "v/offsets.i8";
  columns[0].title = "how many";
  return columns;
}

SchemaRecords schema_of(const std::vector<InputColumn>& columns) {
  SchemaRecords schema;
  const auto form = ntuple_form(columns);
  EXPECT_TRUE(form && add_to_schema(columns, *form, true, schema));
  return schema;
}

TEST(LengthField, ItIsEncodedWithTheOffsetsOfItsList) {
  std::vector<InputColumn> columns = counted_columns();
  auto form = *ntuple_form(columns);
  ASSERT_EQ(form.fields.size(), 4U);
  EXPECT_TRUE(shows_lengths(form.fields[0]));
  EXPECT_EQ(form.fields[0].columns, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(form.fields[0].encoded, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_FALSE(shows_lengths(form.fields[1]));
  columns[0].counts = "w/offsets.i8";  // a list that is not there
  EXPECT_FALSE(shows_lengths(ntuple_form(columns)->fields[0]));
}

TEST(LengthField, ItsRecordsAreReadAsAProjection) {
  const std::vector<InputColumn> columns = counted_columns();
  const SchemaRecords schema = schema_of(columns);
  SchemaLists lists;
  for (const FieldRecord& field : schema.fields) lists.add(field);
  for (const ColumnRecord& column : schema.columns) lists.add(column);
  for (const AliasRecord& alias : schema.aliases) lists.add(alias);
  SchemaRecords read;
  ASSERT_TRUE(read_header_envelope(encode_header("t", "", lists), read));
  ASSERT_EQ(read.fields.size(), 5U);  // behind all others
  EXPECT_EQ(read.fields[4].name, "nv");
  EXPECT_EQ(read.fields[4].type_name, "ROOT::RNTupleCardinality<std::uint32_t>");
  EXPECT_EQ(read.fields[4].description, "how many");
  ASSERT_TRUE(read.fields[4].projected_from);
  EXPECT_EQ(read.fields[*read.fields[4].projected_from].name, "v");
  EXPECT_EQ(length_fields(read), (std::vector<bool>{false, false, false, false, true}));
  const FieldNodes made = make_field_nodes(read);
  const auto shown = std::ranges::find(made.columns, "nv.u4", &Column::path);
  ASSERT_NE(shown, made.columns.end());
  EXPECT_EQ(made.streams[shown->stream].kind, FieldStream::Kind::sizes);
}

TEST(LengthField, OtherProjectionsAreNone) {
  const SchemaRecords schema = schema_of(counted_columns());
  const auto is_one = [&](auto change) -> bool {
    SchemaRecords other = schema;
    change(other);
    return length_fields(other)[4];
  };
  EXPECT_TRUE(is_one([](SchemaRecords&) {}));
  EXPECT_FALSE(is_one([](SchemaRecords& s) { s.fields[4].projected_from.reset(); }));
  EXPECT_FALSE(is_one([](SchemaRecords& s) { s.fields[4].projected_from = 4; }));
  EXPECT_FALSE(is_one([](SchemaRecords& s) { s.fields[4].projected_from = 2; }));  // a text
  EXPECT_FALSE(is_one([](SchemaRecords& s) { s.fields[4].parent = 3; }));
  EXPECT_FALSE(is_one([](SchemaRecords& s) { s.fields[4].array_size = 2; }));
  EXPECT_FALSE(is_one([](SchemaRecords& s) { s.fields[4].type_name = "ROOT::RNTupleCardinality<float>"; }));
  EXPECT_FALSE(is_one([](SchemaRecords& s) { s.aliases[0].column = 2; }));  // the index of the text
  EXPECT_FALSE(is_one([](SchemaRecords& s) {
    s.fields.push_back(s.fields[3]);
    s.fields.back().parent = 4;
  }));
}

TEST(LengthField, EachEntryIsComparedAndNothingIsStored) {
  StoredField field;
  field.name = "nv";
  field.lengths_of = "v";
  field.columns.resize(2);
  for (const Dtype dtype : {Dtype::u4, Dtype::u8}) {
    field.columns[1].dtype = dtype;
    const auto encode = [&](const Numbers& offsets, const Numbers& numbers) {
      const std::vector<std::byte> first = bytes_of(offsets, Dtype::i8), second = bytes_of(numbers, dtype);
      const std::vector<std::span<const std::byte>> columns = {first, second};
      const std::vector<std::int64_t> begin = {0, 0};
      return encode_lengths(field, {{100, 103}, columns, begin});
    };
    const auto part = encode({7, 8, 8, 11}, {1, 0, 3});
    ASSERT_TRUE(part) << part.error().text;
    EXPECT_EQ(part->entries, 3);
    EXPECT_EQ(part->stored.size(), 0U);
    EXPECT_TRUE(part->units.empty());
    EXPECT_GT(part->raw_bytes, 0);  // from which it follows how many entries a part has
    EXPECT_EQ(encode({7, 8, 8, 11}, {1, 0, 2}).error().text,
              "nv, entry 102: it is 2, but the list v, whose lengths it shows, has 3 items");
    EXPECT_FALSE(encode({7, 8, 8, 11}, {1, 0}));
    EXPECT_FALSE(encode({7, 8, 8}, {1, 0, 3}));
    EXPECT_FALSE(encode({7, 8, 5, 11}, {1, 0, 6}));
  }
}

TEST(LengthField, ItIsRemovedAloneAndItsListWithItOnly) {
  std::vector<InputColumn> columns =
      columns_of({{"x.u8", {}}, {"v/offsets.i8", {}}, {"v/values.f4", {}}, {"nv.u4", {}}});
  columns[3].counts = "v/offsets.i8";
  const SchemaRecords schema = schema_of(columns);
  SchemaLists header, extension;  // the projection came later
  for (const FieldRecord& field : schema.fields) (field.projected_from ? extension : header).add(field);
  for (const ColumnRecord& column : schema.columns) header.add(column);
  for (const AliasRecord& alias : schema.aliases) extension.add(alias);
  const auto without = [&](const std::set<std::string, std::less<>>& names) {
    return without_fields(header, extension, schema, names);
  };
  const auto alone = without({"nv"});
  ASSERT_TRUE(alone) << alone.error().text;
  EXPECT_EQ(alone->extension.fields.count + alone->extension.aliases.count, 0U);
  EXPECT_TRUE(without({"nv", "v"}));
  const auto refused = without({"v"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, "v cannot be removed alone: nv projects its values, and must be removed as well");
  const auto other = without({"x"});  // all numbers change
  ASSERT_TRUE(other) << other.error().text;
  SchemaRecords read;
  SchemaLists joined = other->header;
  joined.fields.count += other->extension.fields.count;
  std::ranges::copy(other->extension.fields.bytes, std::back_inserter(joined.fields.bytes));
  joined.aliases = other->extension.aliases;
  ASSERT_TRUE(read_header_envelope(encode_header("t", "", joined), read));
  ASSERT_EQ(read.fields.size(), 3U);
  EXPECT_EQ(read.fields[2].projected_from, 0U);
  ASSERT_EQ(read.aliases.size(), 1U);
  EXPECT_EQ(read.aliases[0].field, 2U);
  EXPECT_EQ(read.aliases[0].column, 0U);
  EXPECT_TRUE(length_fields(read)[2]);
}

}  // namespace
}  // namespace tfile
