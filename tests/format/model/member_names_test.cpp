// SPDX-License-Identifier: Apache-2.0
#include "tfile/member_names.h"

#include <gtest/gtest.h>

namespace tfile {
namespace {

TEST(MemberNames, WhatTheLayoutWouldTakeForItsOwnIsEscaped) {
  const auto escaped = [](const std::vector<std::string_view>& names, const std::vector<std::string>& suffixes) {
    std::string text;
    for (const bool is : escaped_members(names, suffixes)) text += is ? 'e' : '-';
    return text;
  };
  EXPECT_EQ(escaped({"values"}, {".f4x21"}), "e");
  EXPECT_EQ(escaped({"values"}, {""}), "e");
  EXPECT_EQ(escaped({"values", "x"}, {"", ".f4"}), "--");
  EXPECT_EQ(escaped({"chars"}, {".u1"}), "e");
  EXPECT_EQ(escaped({"chars"}, {".i1"}), "-");
  EXPECT_EQ(escaped({"chars", "values"}, {".u1", ".f4"}), "--");
  EXPECT_EQ(escaped({"raw"}, {".u1"}), "e");
  EXPECT_EQ(escaped({"raw"}, {""}), "-");
  EXPECT_EQ(escaped({"x", "offsets"}, {".f4", ".i8"}), "-e");
  EXPECT_EQ(escaped({"offsets"}, {".i4"}), "-");
  EXPECT_EQ(escaped({"tags", "x", "index"}, {".i1", ".f4", ".i8"}), "e-e");
  EXPECT_EQ(escaped({"tags", "index"}, {".i1", ".i4"}), "--");
  EXPECT_EQ(escaped({"index"}, {".i8"}), "-");
  EXPECT_EQ(escaped({}, {}), "");
}

TEST(MemberNames, PathsWithoutTheirEscapes) {
  EXPECT_EQ(without_escaped_members("r/%76alues.f4x3"), "r/values.f4x3");
  EXPECT_EQ(without_escaped_members("r/%76alues/offsets.i8"), "r/values/offsets.i8");
  EXPECT_EQ(without_escaped_members("l/values/%63hars.u1"), "l/values/chars.u1");
  for (const std::string path : {"x.f4", "r/%63hars.i1", "r/%69ndex/offsets.i8", "r/a%2Fb.f4", "r/%2Ea.f4", ""})
    EXPECT_EQ(without_escaped_members(path), path);
}

}  // namespace
}  // namespace tfile
