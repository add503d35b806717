// SPDX-License-Identifier: Apache-2.0
#include "tfile/json_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace tfile {
namespace {

TEST(JsonWriter, SeparatesAndBreaksLines) {
  JsonWriter json;
  json.begin_object().member("a", 1).member("b", "x").key("c").begin_array();
  for (const int n : {1, 2}) json.line(1).begin_array().number(n).null().end_array();
  json.line().end_array().line().key("d").begin_object().end_object().key("e").flag(true).end_object();
  EXPECT_EQ(json.take(), "{\"a\": 1, \"b\": \"x\", \"c\": [\n [1, null],\n [2, null]\n],\n\"d\": {}, \"e\": true}");
}

TEST(JsonWriter, WhatItWritesIsRead) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  JsonWriter json;
  json.begin_object().member("\"\\\n", "\x01").member("most", kMost).member_or_null("none", std::nullopt);
  json.member_or_null("some", -5).key("time").seconds(1e300).key("made").raw("[1]").end_object();
  const auto read = nlohmann::json::parse(json.take(), nullptr, false);
  ASSERT_FALSE(read.is_discarded());
  EXPECT_EQ(read["most"].get<std::uint64_t>(), kMost);
  EXPECT_TRUE(read["none"].is_null());
  EXPECT_EQ(read["some"], -5);
  EXPECT_EQ(read["time"], 1e300);
  EXPECT_EQ(read["made"][0], 1);
  EXPECT_TRUE(read.contains("\"\\\n"));
}

}  // namespace
}  // namespace tfile
