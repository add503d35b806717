// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fs/view/array_table.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::Role;

std::string schema_of(TableRig& rig) {
  Answer<ColumnLengths> lengths;
  column_lengths(rig.streams, rig.table, false, lengths.reply());
  return schema_text(*rig.table, *lengths.wait(), nullptr, {});
}

TEST(Schema, SaysEveryColumn) {
  auto table = std::make_shared<ArrayTable>();
  table->name = "Events";
  table->title = "a \"title\"\n";
  table->entries = 3;
  table->clusters = {0, 2, 3};
  const auto list = table->directory(0, "Muon_pt");
  table->column<std::int64_t>(list, "offsets.i8", Role::offsets, {0, 2, 2, 5});
  table->column<float>(list, "values.f4", Role::values, {1, 2, 3, 4, 5});
  table->columns[0].path = "Muon_pt/offsets.i8";
  table->columns[1].path = "Muon_pt/values.f4";
  table->columns[1].lists = {0};
  table->columns[1].branch = "Muon_pt";
  table->columns[1].field = {"a", "b"};
  table->columns[1].class_name = "vector<float>";
  table->columns[1].compression = "zlib:1";
  table->column<double>(0, "cov.f8x2x2", Role::values, std::vector<double>(12), {2, 2});
  TableRig rig(table);
  const auto json = nlohmann::json::parse(schema_of(rig));
  EXPECT_EQ(json["tfilefs"], 1);
  EXPECT_EQ(json["name"], "Events");
  EXPECT_EQ(json["title"], "a \"title\"\n");
  EXPECT_EQ(json["kind"], "ttree");
  EXPECT_EQ(json["entries"], 3);
  EXPECT_EQ(json["clusters"], nlohmann::json::array({0, 2, 3}));
  EXPECT_TRUE(json["reason"].is_null());
  ASSERT_EQ(json["columns"].size(), 3u);
  EXPECT_EQ(json["columns"][1].dump(),
            R"({"branch":"Muon_pt","class":"vector<float>","compression":"zlib:1","dtype":"<f4","field":["a","b"],)"
            R"("length":5,"lists":["Muon_pt/offsets.i8"],"path":"Muon_pt/values.f4","reason":null,"role":"values",)"
            R"("shape":[],"size":20,"title":""})");
  EXPECT_EQ(json["columns"][2]["shape"], nlohmann::json::array({2, 2}));
  EXPECT_EQ(json["columns"][2]["size"], 96);
}

TEST(Schema, WhatWouldNeedDecodingIsNullUntilItWasNeeded) {
  auto table = std::make_shared<ArrayTable>();
  table->column<float>(0, "a.f4", Role::values, {1, 2, 3, 4});
  table->columns[0].reason = "why";
  table->counted_stream = 0;
  TableRig rig(table);
  auto json = nlohmann::json::parse(schema_of(rig));
  EXPECT_TRUE(json["columns"][0]["length"].is_null());
  EXPECT_TRUE(json["columns"][0]["size"].is_null());
  EXPECT_EQ(json["columns"][0]["reason"], "why");
  Answer<std::int64_t> length;
  rig.streams->length(0, 0, length.reply());
  EXPECT_EQ(*length.wait(), 4);
  json = nlohmann::json::parse(schema_of(rig));
  EXPECT_EQ(json["columns"][0]["length"], 4);
}

}  // namespace
}  // namespace tfilefs
