// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/ntuple_form.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ntuple/column_type.h"
#include "ntuple/write/type_arguments.h"
#include "tfile/name.h"
#include "tfile/writer.h"

namespace tfile {
namespace {

constexpr std::uint32_t kEachEntry = FieldForm::kEachEntry;

// `classes`: directories and the types that were set on them.
std::vector<InputColumn> columns_of(const std::vector<std::string>& paths,
                                    const std::vector<std::pair<std::string, std::string>>& classes) {
  std::vector<InputColumn> columns;
  for (const std::string& path : paths) {
    columns.push_back(*offered_column(path));
    for (const auto& each : classes) {
      if (path.starts_with(each.first + "/")) columns.back().classes.push_back(each);
    }
  }
  return columns;
}

struct Made {
  WriteSchema form;
  SchemaRecords schema;
  std::string error;
};

Made made_of(const std::vector<InputColumn>& columns) {
  Made made;
  auto form = ntuple_form(columns);
  if (!form) {
    made.error = form.error().text;
    return made;
  }
  made.form = *std::move(form);
  EXPECT_TRUE(add_to_schema(columns, made.form, true, made.schema));
  return made;
}

std::vector<std::string> types_of(const Made& made) {
  std::vector<std::string> types;
  for (const FieldRecord& field : made.schema.fields) types.push_back(field.name + " " + field.type_name);
  return types;
}

const std::vector<std::string> kPaths = {"v/std::string/chars.u1", "v/index.i8", "v/std::int32_t.i4",
                                         "v/std::string/offsets.i8", "v/tags.i1"};

TEST(NtupleForm, AVariantHasItsAlternativesInTheOrderOfItsType) {
  const Made made = made_of(columns_of(kPaths, {{"v", "std::variant<std::int32_t, std::string>"}}));
  ASSERT_EQ(made.form.fields.size(), 1U);
  const FieldForm& field = made.form.fields[0];
  EXPECT_EQ(field.columns, (std::vector<std::uint32_t>{4, 1, 2, 3, 0}));
  EXPECT_EQ(field.lists, (std::vector<std::uint32_t>{kEachEntry, kEachEntry, 0, 0, 3}));
  std::vector<int> tags, alternatives;
  for (const VariantPart& part : field.variants) {
    tags.push_back(part.tag);
    alternatives.push_back(part.alternatives);
  }
  EXPECT_EQ(tags, (std::vector<int>{0, 0, 1, 2, 0}));
  EXPECT_EQ(alternatives, (std::vector<int>{2, 0, 0, 0, 0}));
  EXPECT_EQ(types_of(made), (std::vector<std::string>{"v std::variant<std::int32_t,std::string>", "_0 std::int32_t",
                                                      "_1 std::string"}));
  EXPECT_EQ(made.schema.fields[0].role, FieldRole::variant);
  ASSERT_EQ(made.schema.columns.size(), 4U);
  EXPECT_EQ(made.schema.columns[0].type, static_cast<std::uint16_t>(ColumnType::switch_));
}

TEST(NtupleForm, TheOrderOfAlternativesMustBeKnown) {
  const auto incomplete = [](const std::vector<std::string>& paths, const std::string& type) {
    const Made made = made_of(columns_of(paths, {{"v", type}}));
    return made.form.incomplete.empty() ? made.error : made.form.incomplete[0];
  };
  EXPECT_NE(incomplete(kPaths, "").find("user.tfilefs.class of v must name"), std::string::npos);
  EXPECT_NE(incomplete(kPaths, "Hit").find("it is Hit"), std::string::npos);
  EXPECT_NE(incomplete(kPaths, "std::variant<std::int32_t").find("must name"), std::string::npos);
  EXPECT_EQ(incomplete(kPaths, "std::variant<std::int32_t,std::string,float>"),
            "v: no columns of float, of std::variant<std::int32_t,std::string,float>");
  EXPECT_EQ(incomplete(kPaths, "std::variant<std::int32_t>"),
            "v/std::string: it is not an alternative of std::variant<std::int32_t>");

  EXPECT_EQ(incomplete({"v/std::int32_t.i4"}, "std::variant<std::int32_t>"),
            "v: a variant without tags.i1 and index.i8");
}

TEST(NtupleForm, AlternativesOfTheSameTypeHaveTheNamesOfAMount) {
  const std::string other =
      directory_names(std::vector<std::string_view>{"float", "float"}, std::vector<std::string>{".f4", ".f4"})[1];
  const Made made = made_of(
      columns_of({"v/" + other, "v/tags.i1", "v/float.f4", "v/index.i8"}, {{"v", "std::variant<float,float>"}}));
  ASSERT_EQ(made.form.fields.size(), 1U) << made.error;
  EXPECT_EQ(made.form.fields[0].columns, (std::vector<std::uint32_t>{1, 3, 2, 0}));
}

// The type of a variant tells those of all that is in it.
TEST(NtupleForm, TypesOfAlternatives) {
  const auto types = [](const std::string& type, std::vector<std::string> paths) {
    for (std::string& path : paths) path.insert(0, "v/");
    paths.insert(paths.begin(), {"v/tags.i1", "v/index.i8"});
    const Made made = made_of(columns_of(paths, {{"v", "std::variant<" + type + ">"}}));
    std::vector<std::string> all = types_of(made);
    if (!made.error.empty()) return std::vector{made.error};
    if (!made.form.incomplete.empty()) return made.form.incomplete;
    all.erase(all.begin());
    return all;
  };
  using Types = std::vector<std::string>;
  EXPECT_EQ(types("char", {"char.i1"}), (Types{"_0 char"}));
  EXPECT_EQ(types("Color", {"Color.i2"}), (Types{"_0 Color", "_0 std::int16_t"}));
  EXPECT_EQ(types("std::atomic<float>", {"std::atomic<float>.f4"}), (Types{"_0 std::atomic<float>", "_0 float"}));
  EXPECT_EQ(types("std::bitset<8>", {"std::bitset<8>.b1x8"}), (Types{"_0 std::bitset<8>"}));
  EXPECT_EQ(types("std::array<float,3>", {"std::array<float,3>.f4x3"}), (Types{"_0 std::array<float,3>", "_0 float"}));
  EXPECT_EQ(types("std::set<float>", {"std::set<float>/offsets.i8", "std::set<float>/values.f4"}),
            (Types{"_0 std::set<float>", "_0 float"}));
  EXPECT_EQ(types("std::vector<Hit>", {"std::vector<Hit>/offsets.i8", "std::vector<Hit>/values/x.f4"}),
            (Types{"_0 std::vector<Hit>", "_0 Hit", "x float"}));
  EXPECT_EQ(types("std::map<char,float>", {"std::map<char,float>/offsets.i8", "std::map<char,float>/values/value.f4",
                                           "std::map<char,float>/values/key.i1"}),
            (Types{"_0 std::map<char,float>", "_0 std::pair<char,float>", "_0 char", "_1 float"}));
  EXPECT_EQ(types("std::pair<char,float>", {"std::pair<char,float>/second.f4", "std::pair<char,float>/first.i1"}),
            (Types{"_0 std::pair<char,float>", "_0 char", "_1 float"}));
  EXPECT_EQ(types("std::variant<char>",
                  {"std::variant<char>/tags.i1", "std::variant<char>/index.i8", "std::variant<char>/char.i1"}),
            (Types{"_0 std::variant<char>", "_0 char"}));
  for (const auto& [type, path] : {std::pair("float", "float.f8"), std::pair("std::string", "std::string/x.f4"),
                                   std::pair("std::bitset<8>", "std::bitset<8>.b1x7"),
                                   std::pair("std::array<float,3>", "std::array<float,3>.f4x4")}) {
    const Types wrong = types(type, {path});
    EXPECT_NE(wrong[0].find("it does not belong to a variant of type"), std::string::npos) << wrong[0];
  }
}

TEST(TypeArguments, AreThoseOfTheOutermostBrackets) {
  using Arguments = std::vector<std::string>;
  EXPECT_EQ(*template_arguments("std::map<int, std::pair<a,b> >"), (Arguments{"int", "std::pair<a,b>"}));
  EXPECT_EQ(*template_arguments("a<>"), (Arguments{""}));
  for (const char* wrong : {"", "int", "a<b", "a<b>c", "a>b<", "a<b>>", "a<b>,c<d>", "<", ">"})
    EXPECT_FALSE(template_arguments(wrong)) << wrong;
  EXPECT_EQ(*arguments_of("std::variant", " std::variant < a , b > "), (Arguments{"a", "b"}));
  EXPECT_FALSE(arguments_of("std::variant", "std::vector<a>"));
}

}  // namespace
}  // namespace tfile
