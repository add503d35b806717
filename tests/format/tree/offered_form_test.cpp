// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "format/model/offered_numbers.h"
#include "tfile/writer.h"
#include "tree/write/branch_form.h"

namespace tfile {
namespace {

using Kind = FieldForm::Kind;

Result<WriteSchema> form_of(const std::vector<std::string>& paths) {
  std::vector<InputColumn> columns;
  for (const std::string& path : paths) {
    TRY(InputColumn column, offered_column(path));
    columns.push_back(std::move(column));
  }
  return tree_form(columns);
}

std::string error_of(const std::vector<std::string>& paths) {
  const auto form = form_of(paths);
  return form ? "" : form.error().text;
}

// The one field that all paths form together.
FieldForm only(const std::vector<std::string>& paths) {
  const auto form = form_of(paths);
  EXPECT_TRUE(form) << form.error().text;
  if (!form || form->fields.size() != 1) return {};
  return form->fields[0];
}

TEST(InputColumn, SaysWhatTheNameSays) {
  const auto column = offered_column("Muon_cov/values.f4x3x2");
  ASSERT_TRUE(column);
  EXPECT_EQ(column->dtype, Dtype::f4);
  EXPECT_EQ(column->shape, (std::vector<std::uint32_t>{3, 2}));
  EXPECT_EQ(column->role, Role::values);
  EXPECT_EQ(offered_column("a/offsets.i8")->role, Role::offsets);
  EXPECT_EQ(offered_column("a/chars.u1")->role, Role::chars);
  EXPECT_EQ(offered_column("offsets.i8")->role, Role::values) << "beside the other columns it is a number";
}

TEST(InputColumn, RefusesNamesThatWouldNotComeBack) {
  for (const char* wrong : {"px", "px.f3", "px.f4x0", "px.f4x4294967295", ".f4", "%.f4", "a..f4", "%41.f4", "x[2].f4",
                            "a%00b.f4", "a//values.f4", "/px.f4", "a/", "%2e.f4"}) {
    EXPECT_FALSE(offered_column(wrong)) << wrong;
  }
  EXPECT_FALSE(offered_column(std::string(300, 'x') + ".f4"));
  EXPECT_TRUE(offered_column("a%2Fb.f4"));
  EXPECT_TRUE(offered_column("%2Ehidden.f4"));
  EXPECT_TRUE(offered_column("100%.f4"));
}

TEST(WriteSchema, NumbersHaveTheirNamesWithEscapesUndone) {
  const auto form = form_of({"px.f4", "a%2Fb.i8x2", "%2Ec.u1"});
  ASSERT_TRUE(form);
  ASSERT_EQ(form->fields.size(), 3u);
  EXPECT_EQ(form->fields[0].name, "px");
  EXPECT_EQ(form->fields[1].name, "a/b");
  EXPECT_EQ(form->fields[2].name, ".c");
  EXPECT_EQ(form->fields[1].kind, Kind::number);
}

TEST(WriteSchema, ListsHaveTheirCounterWhereItIsThere) {
  EXPECT_EQ(only({"pt/values.f4", "pt/offsets.i8"}).kind, Kind::list);
  EXPECT_FALSE(counter_of(only({"pt/values.f4", "pt/offsets.i8"})));
  EXPECT_EQ(only({"pt/values.f4", "pt/offsets.i8"}).columns, (std::vector<std::uint32_t>{1, 0}));

  const auto form = form_of({"Muon_pt/offsets.i8", "Muon_pt/values.f4x3", "nMuon.u4"});
  ASSERT_TRUE(form);
  const FieldForm& array = form->fields[0];
  EXPECT_EQ(array.kind, Kind::list);
  EXPECT_EQ(counter_of(array), 2u);
  EXPECT_EQ(array.columns, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(array.encoded, (std::vector<std::uint32_t>{2, 0, 1}));

  EXPECT_EQ(counter_of(form_of({"pt/offsets.i8", "pt/values.f4", "npt.i2"})->fields[0]), 2u);
  EXPECT_EQ(counter_of(form_of({"A_b_c/offsets.i8", "A_b_c/values.f4", "nA.i4", "nA_b.i4"})->fields[0]), 3u);
  for (const char* no_counter : {"nMuon.f4", "nMuon.b1", "nMuon.i4x1", "nMu.i4"}) {
    EXPECT_FALSE(counter_of(form_of({"Muon_pt/offsets.i8", "Muon_pt/values.f4", no_counter})->fields[0])) << no_counter;
  }
}

TEST(WriteSchema, AListOfArraysHasTheCounterThatIsKnown) {
  std::vector<InputColumn> columns;
  for (const char* path : {"v/offsets.i8", "v/values.f4x3", "n.i4", "nv.i4"}) columns.push_back(*offered_column(path));
  EXPECT_EQ(counter_of(tree_form(columns)->fields[0]), 3u);
  columns[1].counter = "n.i4";
  EXPECT_EQ(counter_of(tree_form(columns)->fields[0]), 2u);
}

TEST(WriteSchema, ListsOfArraysHaveTheCounterThatTheirEntriesTell) {
  const OfferedNumbers all = {
      {"n.i4", {1, 0, 3}},  {"x.f4", {2, 0, 1}},   {"v/offsets.i8", {0, 2, 2, 3}}, {"v/values.f4x3", {}},
      {"short.i4", {2, 0}}, {"m.u2", {2, 0, 1}},   {"ab.i4x2", {2, 0, 1}},         {"pt/offsets.i8", {0, 2, 2, 3}},
      {"pt/values.f4", {}}, {"r/a.i4", {2, 0, 1}}, {"late.u2", {2, 0, 1}}};
  std::vector<InputColumn> columns = columns_of(all);
  OfferedEntries entries = entries_of(all, columns);
  find_list_counters(columns, entries);
  for (const InputColumn& column : columns) {
    EXPECT_EQ(column.counter, column.path == "v/values.f4x3" ? "m.u2" : "") << column.path;
  }
  entries.items = [](std::uint32_t, std::int64_t, std::span<std::byte>) { return false; };
  columns[3].counter.clear();
  find_list_counters(columns, entries);
  EXPECT_EQ(columns[3].counter, "");
}

TEST(WriteSchema, TextsNestedListsAndRecords) {
  EXPECT_EQ(only({"s/offsets.i8", "s/chars.u1"}).kind, Kind::text);
  const FieldForm nested = only({"v/values/values.f4", "v/offsets.i8", "v/values/offsets.i8"});
  EXPECT_EQ(nested.kind, Kind::list);
  EXPECT_EQ(nested.columns, (std::vector<std::uint32_t>{1, 2, 0}));
  EXPECT_EQ(only({"v/offsets.i8", "v/values/offsets.i8", "v/values/chars.u1"}).columns.size(), 3u);
  const FieldForm record = only({"r/b.f8x2", "r/a.i4"});
  EXPECT_EQ(record.kind, Kind::record);
  EXPECT_EQ(record.columns, (std::vector<std::uint32_t>{0, 1}));
}

TEST(WriteSchema, ARecordOfOneMemberOrOfMoreThanNumbersIsAnObject) {
  const FieldForm one = only({"r/a.f4"});
  EXPECT_EQ(one.kind, Kind::nested);
  EXPECT_EQ(one.lists, (std::vector<std::uint32_t>{FieldForm::kEachEntry}));
  const FieldForm many = only({"r/s/chars.u1", "r/a.f4x2", "r/v/offsets.i8", "r/v/values/offsets.i8",
                               "r/v/values/values.u2", "r/s/offsets.i8"});
  EXPECT_EQ(many.name, "r");
  EXPECT_EQ(many.kind, Kind::nested);
  EXPECT_EQ(many.columns, (std::vector<std::uint32_t>{5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(many.encoded, many.columns);
  EXPECT_EQ(many.lists,
            (std::vector<std::uint32_t>{FieldForm::kEachEntry, 0, FieldForm::kEachEntry, FieldForm::kEachEntry, 3, 4}));
}

TEST(WriteSchema, AMemberOfRecordsLiesInTheirList) {
  const auto form = form_of({"v/offsets.i8", "v/values/a.f4", "v/values/b.i2x3"});
  ASSERT_EQ(form->fields.size(), 1U);
  const FieldForm& field = form->fields[0];
  EXPECT_EQ(field.kind, FieldForm::Kind::nested);
  EXPECT_EQ(field.columns, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(field.lists, (std::vector<std::uint32_t>{FieldForm::kEachEntry, 0, 0}));
}

TEST(WriteSchema, AMapOfTextsHasItsKeyFirst) {
  const FieldForm numbers =
      only({"m/offsets.i8", "m/values/value.f8", "m/values/key/chars.u1", "m/values/key/offsets.i8"});
  EXPECT_EQ(numbers.kind, Kind::nested);
  EXPECT_EQ(numbers.columns, (std::vector<std::uint32_t>{0, 3, 2, 1}));
  EXPECT_EQ(numbers.lists, (std::vector<std::uint32_t>{FieldForm::kEachEntry, 0, 1, 0}));
  const FieldForm texts = only({"m/offsets.i8", "m/values/key/offsets.i8", "m/values/key/chars.u1",
                                "m/values/value/offsets.i8", "m/values/value/chars.u1"});
  EXPECT_EQ(texts.columns, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(texts.lists, (std::vector<std::uint32_t>{FieldForm::kEachEntry, 0, 1, 0, 3}));
}

TEST(WriteSchema, OtherMapsWithTextsOrListsAreNotWritten) {
  const std::vector<std::string> key = {"m/offsets.i8", "m/values/key/offsets.i8", "m/values/key/chars.u1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), key.begin(), key.end());
    return error_of(more);
  };
  for (const char* value : {"m/values/value.i2", "m/values/value.b1", "m/values/value.u8", "m/values/value.f8x2"})
    EXPECT_NE(with({value}).find("cannot be written"), std::string::npos) << value;
  EXPECT_NE(with({"m/values/value/offsets.i8", "m/values/value/values.f4"}).find("cannot be written"),
            std::string::npos);
  EXPECT_NE(with({"m/values/value/x.f4", "m/values/value/y.f4"}).find("cannot be written"), std::string::npos);
  EXPECT_NE(with({"m/values/other.f4"}).find("members other than numbers"), std::string::npos);
  EXPECT_NE(error_of({"m/offsets.i8", "m/values/key.i4", "m/values/value/offsets.i8", "m/values/value/chars.u1"})
                .find("cannot be written"),
            std::string::npos);
}

TEST(WriteSchema, AMapWaitsForKeyAndValue) {
  const auto lines = [](const std::vector<std::string>& paths) { return form_of(paths)->incomplete; };
  const std::vector<std::string> one_is_missing = {"m: values: a key without values, or values without a key"};
  EXPECT_EQ(lines({"m/offsets.i8", "m/values/key/offsets.i8", "m/values/key/chars.u1"}), one_is_missing);
  EXPECT_EQ(lines({"m/offsets.i8", "m/values/value/offsets.i8", "m/values/value/chars.u1"}), one_is_missing);
  EXPECT_EQ(lines({"m/offsets.i8", "m/values/value.f4", "m/values/key/offsets.i8"}),
            std::vector<std::string>{"m: values: key: offsets without values or chars"});
  EXPECT_EQ(lines({"m/offsets.i8", "m/values/value.f4", "m/values/key/chars.u1"}),
            std::vector<std::string>{"m: values: key: chars without offsets"});
}

// Copying programs make the files of a column in any order.
TEST(WriteSchema, NoPartOfWhatIsWrittenIsRefused) {
  const std::vector<std::vector<std::string>> written = {
      {"f/offsets.i8", "f/values/offsets.i8", "f/values/values/offsets.i8", "f/values/values/chars.u1"},
      {"f/offsets.i8", "f/values/offsets.i8", "f/values/values/offsets.i8", "f/values/values/values.i4"},
      {"f/offsets.i8", "f/values/x.f4", "f/values/y.i2x3", "f/values/values.f4"},
      {"f/offsets.i8", "f/values/key/offsets.i8", "f/values/key/chars.u1", "f/values/value.f8"},
      {"f/offsets.i8", "f/values/key/offsets.i8", "f/values/key/chars.u1", "f/values/value/offsets.i8",
       "f/values/value/chars.u1"},
      {"f/x.f4", "f/name/offsets.i8", "f/name/chars.u1", "f/v/offsets.i8", "f/v/values/offsets.i8",
       "f/v/values/chars.u1"},
      {"f/x.f4", "f/values/offsets.i8", "f/values/values.f4"},
      {"f/x.f4", "f/values.f4", "f/chars.u1"},
  };
  for (const std::vector<std::string>& whole : written) {
    EXPECT_EQ(form_of(whole)->fields.size(), 1u);
    for (unsigned part = 1; part < 1u << whole.size(); ++part) {
      std::vector<std::string> some;
      for (unsigned i = 0; i < whole.size(); ++i) {
        if ((part >> i & 1) != 0) some.push_back(whole[i]);
      }
      EXPECT_EQ(error_of(some), "") << whole.back() << " " << part;
    }
  }
}

TEST(WriteSchema, SaysWhatIsMissing) {
  const auto lines = [](const std::vector<std::string>& paths) { return form_of(paths)->incomplete; };
  EXPECT_EQ(lines({"pt/offsets.i8"}), std::vector<std::string>{"pt: offsets without values or chars"});
  EXPECT_EQ(lines({"pt/values.f4"}), std::vector<std::string>{"pt: values without offsets"});
  EXPECT_EQ(lines({"s/chars.u1"}), std::vector<std::string>{"s: chars without offsets"});
  EXPECT_EQ(lines({"v/offsets.i8", "v/values/values.f4"}),
            std::vector<std::string>{"v: values: values without offsets"});
  EXPECT_EQ(lines({"v/values/a.f4"}), std::vector<std::string>{"v: values without offsets"});
  EXPECT_EQ(lines({"v/values/offsets.i8"}), std::vector<std::string>{"v: values without offsets"});
  EXPECT_EQ(lines({"r/a.f4", "r/s/offsets.i8"}), std::vector<std::string>{"r: s: offsets without values or chars"});
  EXPECT_EQ(lines({"r/s/chars.u1"}), std::vector<std::string>{"r: s: chars without offsets"});
  EXPECT_EQ(lines({"r/a.f4", "r/v/values/values.f4"}), std::vector<std::string>{"r: v: values without offsets"});
  EXPECT_TRUE(form_of({"r/s/chars.u1"})->fields.empty());
  EXPECT_EQ(lines({"v/offsets.i8", "v/values.f4x3", "n.i4"}),
            std::vector<std::string>{"v: a list of arrays needs an integer column that counts it"});
}

// A member whose name the layout uses itself is escaped, and then nothing is missing beside it.
TEST(WriteSchema, EscapedNamesOfTheLayoutAreMembers) {
  for (const std::string only : {"r/%76alues.f4x3", "r/%63hars.u1", "r/%76alues/offsets.i8"}) {
    std::vector<std::string> paths{only};
    if (only.ends_with("offsets.i8")) paths.emplace_back("r/%76alues/values.f4");
    const auto form = form_of(paths);
    EXPECT_TRUE(form->incomplete.empty()) << only;
    ASSERT_EQ(form->fields.size(), 1u) << only;
    EXPECT_EQ(form->fields[0].kind, FieldForm::Kind::nested) << only;
  }
  EXPECT_EQ(form_of({"v/offsets.i8", "v/values/%76alues.f4x3"})->fields.size(), 1u);
  EXPECT_NE(error_of({"v/offsets.i8", "v/%76alues.f4"}), "") << "the items of a list are values";
  EXPECT_TRUE(offered_column("%76alues.f4")) << "what is a record may not have columns beside it yet";
  EXPECT_TRUE(offered_column("%76alues/offsets.i8"));
}

TEST(WriteSchema, RefusesWhatIsNotWritten) {
  EXPECT_NE(error_of({"v/offsets.i8", "v/values/a.f4", "v/values/b/x.f4"}).find("members other than numbers"),
            std::string::npos);
  EXPECT_NE(error_of({"v/offsets.i8", "v/values/offsets.i8", "v/values/values/a.f4"}).find("lists of records in lists"),
            std::string::npos);
  EXPECT_NE(error_of({"v/offsets.i8", "v/values/a%2Eb.f4"}), "");
  EXPECT_NE(error_of({"v/offsets.i8", "v/values/a.f4", "v/values/a.i4"}).find("duplicate member name"),
            std::string::npos);
  EXPECT_NE(error_of({"v/offsets.i8", "v/values/a.f4x1x1x1x1x1x1"}).find("five dimensions"), std::string::npos);
  EXPECT_NE(error_of({"v/tags.i1", "v/index.i8", "v/x/a.f4"}).find("variants"), std::string::npos);
  EXPECT_NE(error_of({"v/offsets.i8", "v/raw.u1"}).find("undecoded bytes"), std::string::npos);
  EXPECT_NE(error_of({"v/offsets.i8", "v/values/offsets.i8", "v/values/values.f4x3"}).find("lists of arrays"),
            std::string::npos);
  EXPECT_NE(error_of({"r/a.f4", "r/s/x.f4"}).find("records in records"), std::string::npos);
  EXPECT_NE(error_of({"r/s/x.f4", "r/s/y.f4"}).find("records in records"), std::string::npos);
  EXPECT_NE(error_of({"r/v/offsets.i8", "r/v/values/x.f4"}).find("lists of records"), std::string::npos);
  EXPECT_NE(error_of({"r/v/offsets.i8", "r/v/values.f4x3"}).find("lists of arrays"), std::string::npos);
  EXPECT_NE(error_of({"r/a%2Eb.f4", "r/s/offsets.i8", "r/s/chars.u1"}), "");
  EXPECT_NE(error_of({"r/a.f4", "r/a/offsets.i8", "r/a/chars.u1"}).find("duplicate member name"), std::string::npos);
  EXPECT_NE(error_of({"r/a.f4x1x1x1x1x1x1"}).find("five dimensions"), std::string::npos);
  EXPECT_NE(error_of({"r/v/tags.i1", "r/v/index.i8", "r/v/x/a.f4"}).find("variants"), std::string::npos);
  EXPECT_NE(error_of({"r.f4", "r/s/offsets.i8", "r/s/chars.u1"}).find("already exists"), std::string::npos);
  EXPECT_NE(error_of({"px.f4", "px.i4"}).find("already exists"), std::string::npos);
  EXPECT_NE(error_of({"a.b.f4", "a/b.i4", "a/s/offsets.i8", "a/s/chars.u1"}).find("already exists"), std::string::npos);
  EXPECT_NE(error_of({"a/offsets.i8", "a/values/b.i4", "a/values/c.i4", "a.b.f4"}).find("already exists"),
            std::string::npos);
  EXPECT_NE(error_of({"px.f4", "px/offsets.i8", "px/values.f4"}).find("already exists"), std::string::npos);
  EXPECT_NE(error_of({"px.f4", "px.f4"}), "");
  EXPECT_NE(error_of({"v/offsets.i8", "v/values.f4", "v/values.i4"}), "");
}

std::vector<std::string> not_held_of(TableFormat format, const std::vector<std::string>& paths) {
  std::vector<InputColumn> columns;
  for (const std::string& path : paths) columns.push_back(*offered_column(path));
  std::vector<std::string> found;
  for (const NotHeld& each : not_held(columns, format)) found.push_back(each.path);
  return found;
}

TEST(NotHeld, IsTheMemberOfARecordOrTheFieldIfNoMemberIsLeft) {
  using Paths = std::vector<std::string>;
  const Paths paths = {"r/x.f4",        "r/deep/y.f4", "r/deep/z.f4",     "l/offsets.i8",
                       "l/values/a.f4", "plain.i4",    "l/values/b/x.f4", "m/inner/deep/x.f4"};
  EXPECT_EQ(not_held_of(TableFormat::tree, paths), (Paths{"r/deep", "l/values/b", "m"}));
  EXPECT_EQ(not_held_of(TableFormat::rntuple, paths), Paths());
  EXPECT_EQ(not_held_of(TableFormat::rntuple, {"r/x.y.f4", "r/z.f4", "s/a b.f4", "x.y.f4", "x.f4"}),
            (Paths{"r/x.y.f4", "s", "x.y.f4"}));
}

TEST(NotHeld, IsTheSecondOfTwoOfAName) {
  using Paths = std::vector<std::string>;
  EXPECT_EQ(not_held_of(TableFormat::rntuple, {"x.f4", "x.i4", "r/a.f4", "r/a.i4"}), (Paths{"x.i4", "r/a.i4"}));
  EXPECT_EQ(not_held_of(TableFormat::tree, {"x.f4", "x.i4", "y.f4"}), Paths{"x.i4"});
}

TEST(NearestName, IsTakenByTheFormat) {
  EXPECT_EQ(nearest_name("fHeader.RecHeader", TableFormat::rntuple, false), "fHeader_RecHeader");
  EXPECT_EQ(nearest_name("a/b c\\d\n[2]", TableFormat::rntuple, true), "a_b_c_d__2_");
  EXPECT_EQ(nearest_name("a.b/c", TableFormat::tree, false), "a.b/c");
  EXPECT_EQ(nearest_name("a.b.", TableFormat::tree, false), "a.b_");
  EXPECT_EQ(nearest_name("a.b", TableFormat::tree, true), "a_b");
  EXPECT_EQ(nearest_name("", TableFormat::tree, false), "_");
}

}  // namespace
}  // namespace tfile
