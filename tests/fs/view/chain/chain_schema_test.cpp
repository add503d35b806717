// SPDX-License-Identifier: Apache-2.0
#include "view/chain/chain_schema.h"

#include <gtest/gtest.h>

#include <memory>

#include "fs/view/array_table.h"
#include "view/chain/number_types.h"

namespace tfilefs {
namespace {

using tfile::Dtype;
using tfile::NodeId;
using tfile::NodeKind;
using tfile::Role;

TableSchema schema_of(const tfile::Table& table) { return {table.kind, table.nodes, table.columns, {}}; }

// Makes the schema of a table, one node after the other.
class Maker {
 public:
  Maker() { table_->nodes[0].kind = NodeKind::record; }
  Maker& number(const std::string& name, std::vector<std::uint32_t> shape = {}, NodeId in = 0) {
    table_->column<std::uint8_t>(in, name, Role::values, {}, std::move(shape));
    return *this;
  }
  Maker& list(const std::string& name, const std::string& values) {
    const NodeId at = directory(name, NodeKind::list);
    offsets(at);
    return number(values, {}, at);
  }
  Maker& deep(const std::string& name, const std::string& values) {
    const NodeId at = directory(name, NodeKind::list);
    offsets(at);
    const NodeId inner = table_->directory(at, "values");
    table_->nodes[inner].kind = NodeKind::list;
    offsets(inner);
    return number(values, {}, inner);
  }
  Maker& string(const std::string& name) {
    table_->string(0, name, {});
    return *this;
  }
  Maker& record(const std::string& name, const std::string& member) {
    return number(member, {}, directory(name, NodeKind::record));
  }
  // A record whose first member is one of a class without members; then perhaps a number.
  Maker& hollow(const std::string& name, const std::string& member = "", bool in_list = false) {
    NodeId at = directory(name, in_list ? NodeKind::list : NodeKind::record);
    if (in_list) {
      offsets(at);
      at = table_->directory(at, "values");
      table_->nodes[at].kind = NodeKind::record;
    }
    table_->nodes[table_->directory(at, "nothing")].kind = NodeKind::record;
    return member.empty() ? *this : number(member, {}, at);
  }
  // Of items that are not described.
  Maker& bare_list(const std::string& name) {
    offsets(directory(name, NodeKind::list));
    return *this;
  }
  TableSchemaPtr done() { return schemas_.keep(schema_of(*table_)); }

 private:
  NodeId directory(const std::string& name, NodeKind kind) {
    const NodeId at = table_->directory(0, name);
    table_->nodes[at].kind = kind;
    return at;
  }
  void offsets(NodeId at) { table_->column<std::int64_t>(at, "offsets.i8", Role::offsets, {0}); }

  std::shared_ptr<ArrayTable> table_ = std::make_shared<ArrayTable>();
  SchemaSet schemas_;
};

std::string paths(const ChainSchema& schema) {
  std::string all;
  for (const tfile::Column& column : schema.columns)
    all += (all.empty() ? "" : " ") + column.path + (column.optional ? "?" : "");
  return all;
}

std::string shown(std::vector<TableSchemaPtr> schemas, ChainPolicy policy) {
  const auto made = chain_schema(schemas, policy);
  return made ? paths(*made) : "refused: " + made.error().text;
}

struct Case {
  const char* name;
  TableSchemaPtr first, second;
  const char *common, *all, *strict;  // the columns, or the beginning of the error; the same in both orders
};

TEST(ChainSchema, TableOfCases) {
  const auto x = [](const char* type) { return Maker().number(std::string("x.") + type).done(); };
  const Case cases[] = {
      {"the same", x("f4"), x("f4"), "x.f4", "x.f4", "x.f4"},
      {"u1 and i2", x("u1"), x("i2"), "x.i2", "x.i2", "refused: x: "},
      {"u1 and i1", x("u1"), x("i1"), "x.i2", "x.i2", "refused: x: "},
      {"i4 and u4", x("i4"), x("u4"), "x.i8", "x.i8", "refused: x: "},
      {"u8 and i8", x("u8"), x("i8"), "", nullptr, "refused: x: "},
      {"f4 and f8", x("f4"), x("f8"), "x.f8", "x.f8", "refused: x: "},
      {"i4 and f4", x("i4"), x("f4"), "x.f8", "x.f8", "refused: x: "},
      {"i8 and f8", x("i8"), x("f8"), "", nullptr, "refused: x: "},
      {"b1 and u1", x("b1"), x("u1"), "", nullptr, "refused: x: "},
      {"missing", Maker().number("x.f4").number("y.f4").done(), x("f4"), "x.f4", "x.f4 y/offsets.i8? y/values.f4",
       "refused: y: "},
      {"counted and vector", Maker().list("x", "values.f4").done(), Maker().list("x", "values.f8").done(),
       "x/offsets.i8 x/values.f8", "x/offsets.i8 x/values.f8", "refused: x: "},
      {"array and list", Maker().number("x.f4x3", {3}).done(), Maker().list("x", "values.f4").done(),
       "x/offsets.i8 x/values.f4", "x/offsets.i8 x/values.f4", "refused: x: "},
      {"arrays", Maker().number("x.f4x3", {3}).done(), Maker().number("x.f4x2", {2}).done(), "x/offsets.i8 x/values.f4",
       "x/offsets.i8 x/values.f4", "refused: x: "},
      {"the same array", Maker().number("x.f4x3", {3}).done(), Maker().number("x.f8x3", {3}).done(), "x.f8x3", "x.f8x3",
       "refused: x: "},
      {"number and list", x("f4"), Maker().list("x", "values.f4").done(), "", nullptr, "refused: x: "},
      {"number and array", x("f4"), Maker().number("x.f4x2", {2}).done(), "", nullptr, "refused: x: "},
      {"depths", Maker().list("x", "values.f4").done(), Maker().deep("x", "values.f4").done(), "", nullptr,
       "refused: x: "},
      {"class and number", Maker().record("x", "a.f4").done(), x("f4"), "", nullptr, "refused: x: "},
      {"members", Maker().record("x", "a.f4").done(), Maker().record("x", "a.f8").done(), "x/a.f8", "x/a.f8",
       "refused: x/a: "},
      {"string and number", Maker().string("x").done(), x("f4"), "", nullptr, "refused: x: "},
      {"order", Maker().number("a.f4").number("b.f4").done(), Maker().number("b.f4").number("a.f4").done(), "a.f4 b.f4",
       "a.f4 b.f4", "a.f4 b.f4"},
  };
  const auto sorted = [](std::string text) {
    std::istringstream words(text);
    std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
    std::sort(all.begin(), all.end());
    std::string joined;
    for (const std::string& word : all) joined += word + " ";
    return joined;
  };
  for (const Case& each : cases) {
    for (const auto& schemas : {std::vector{each.first, each.second}, std::vector{each.second, each.first},
                                std::vector{each.first, each.second, each.first}}) {
      EXPECT_EQ(sorted(shown(schemas, ChainPolicy::common)), sorted(each.common)) << each.name;
      if (each.all) {
        EXPECT_EQ(sorted(shown(schemas, ChainPolicy::all)), sorted(each.all)) << each.name;
      }
      EXPECT_TRUE(shown(schemas, ChainPolicy::strict).starts_with(each.strict) ||
                  sorted(shown(schemas, ChainPolicy::strict)) == sorted(each.strict))
          << each.name << ": " << shown(schemas, ChainPolicy::strict);
    }
  }
}

TEST(ChainSchema, WhatCannotBeOneIsTwoWithNoneOrOneEach) {
  const auto number = Maker().number("x.f4").done(), list = Maker().list("x", "values.f4").done();
  EXPECT_EQ(shown({number, list}, ChainPolicy::all),
            "x/offsets.i8? x/values.f4 x~2/offsets.i8? x~2/values/offsets.i8 x~2/values/values.f4");
  const auto large = Maker().number("x.i8").done(), real = Maker().number("x.f8").done();
  EXPECT_EQ(shown({large, real}, ChainPolicy::all), "x/offsets.i8? x/values.i8 x~2/offsets.i8? x~2/values.f8");
  EXPECT_EQ(shown({list, number, list}, ChainPolicy::all),
            "x/offsets.i8? x/values/offsets.i8 x/values/values.f4 x~2/offsets.i8? x~2/values.f4");
}

TEST(ChainSchema, DifferencesAreTold) {
  const auto made = chain_schema(
      std::vector{Maker().number("x.f4").number("y.i4").done(), Maker().number("x.f8").done()}, ChainPolicy::common);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->differences.size(), 2u);
  EXPECT_EQ(made->differences[0].node, "x");
  EXPECT_EQ(made->differences[0].shown, "f8");
  EXPECT_EQ(made->differences[0].found, (std::vector<std::string>{"f4", "f8"}));
  EXPECT_EQ(made->differences[1].node, "y");
  EXPECT_EQ(made->differences[1].shown, "left out");
  EXPECT_EQ(made->differences[1].found, (std::vector<std::string>{"i4", "missing"}));
}

TEST(ChainSchema, WhatCannotBeChainedIsTold) {
  const auto left_out = [](const ChainSchema& schema) {
    std::vector<std::string> nodes;
    for (const Difference& each : schema.differences) nodes.push_back(each.node + ": " + each.found.front());
    return nodes;
  };
  for (const ChainPolicy policy : {ChainPolicy::common, ChainPolicy::all, ChainPolicy::strict}) {
    const auto schema = Maker().number("x.f4").bare_list("bare").hollow("l", "", true).done();
    const auto made = chain_schema(std::vector{schema}, policy);
    ASSERT_TRUE(made);
    EXPECT_EQ(paths(*made), "x.f4");
    EXPECT_EQ(left_out(*made),
              (std::vector<std::string>{"l: list of record", "bare: list, of items without a description"}));
  }
}

TEST(ChainSchema, RecordsMayBeginWithNothing) {
  const auto both = Maker().number("x.f4").hollow("r", "a.f4").hollow("l", "a.f4", true).done();
  const auto one = Maker().number("x.f4").done();
  EXPECT_EQ(shown({both, both}, ChainPolicy::common), "x.f4 r/a.f4 l/offsets.i8 l/values/a.f4");
  const auto made = chain_schema(std::vector{both, one}, ChainPolicy::all);
  ASSERT_TRUE(made);
  EXPECT_EQ(paths(*made), "x.f4 r/offsets.i8? r/values/a.f4 l/offsets.i8? l/values/offsets.i8 l/values/values/a.f4");
  for (const auto& counts : made->counts) EXPECT_NE(counts[0].of, CountSource::Of::nothing) << "ends would be wrong";
}

TEST(ChainSchema, EqualSchemasAreKeptOnce) {
  SchemaSet schemas;
  ArrayTable one, same, other;
  for (ArrayTable* table : {&one, &same}) table->column<float>(0, "x.f4", Role::values, {1});
  other.column<double>(0, "x.f8", Role::values, {1});
  same.columns[0].title = "another title";
  const auto kept = schemas.keep(schema_of(one));
  EXPECT_EQ(schemas.keep(schema_of(same)), kept);
  EXPECT_NE(schemas.keep(schema_of(other)), kept);
}

TEST(ChainSchema, TheSchemaOfATableThatStaysOpenIsNoCopy) {
  SchemaSet schemas;
  const auto table = std::make_shared<ArrayTable>();
  table->column<float>(0, "x.f4", Role::values, {1});
  const auto kept = schemas.keep_shared(table, {0});
  EXPECT_EQ(&kept->columns[0], &table->columns[0]);
  EXPECT_EQ(&kept->nodes[0], &table->nodes[0]);
  EXPECT_EQ(kept->short_columns, std::vector<tfile::ColumnId>{0});
  EXPECT_EQ(schemas.keep(*table, {0}), kept);
  EXPECT_NE(schemas.keep(*table, {}), kept);
}

TEST(NumberTypes, ValuesStayExact) {
  const std::int32_t i4[] = {-5, 2'000'000'001};
  double f8[2];
  widen(reinterpret_cast<const std::byte*>(i4), Dtype::i4, reinterpret_cast<std::byte*>(f8), Dtype::f8, 2);
  EXPECT_EQ(f8[0], -5);
  EXPECT_EQ(f8[1], 2'000'000'001);
  const std::uint32_t u4[] = {4'000'000'000};
  std::int64_t i8[1];
  widen(reinterpret_cast<const std::byte*>(u4), Dtype::u4, reinterpret_cast<std::byte*>(i8), Dtype::i8, 1);
  EXPECT_EQ(i8[0], 4'000'000'000);
  EXPECT_FALSE(common_type(std::vector{Dtype::i8, Dtype::f8}));
  EXPECT_EQ(common_type(std::vector{Dtype::u4, Dtype::i4, Dtype::u1}), Dtype::i8);
  EXPECT_EQ(common_type(std::vector{Dtype::u4, Dtype::f4, Dtype::i4}), Dtype::f8);
}

}  // namespace
}  // namespace tfilefs
