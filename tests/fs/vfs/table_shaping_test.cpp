// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/table_shaping.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

TEST(TableShaping, TheTableComesBeforeAColon) {
  const auto of = [](std::string_view text) {
    const auto made = parse_choice(text);
    return made ? made->table + "|" + made->expression : "none";
  };
  EXPECT_EQ(of("x>2"), "|x>2");
  EXPECT_EQ(of("Events:x>2"), "Events|x>2");
  EXPECT_EQ(of("dir/t;2:x>2"), "dir/t;2|x>2");
  EXPECT_EQ(of("flag?1:0"), "|flag?1:0");
  EXPECT_EQ(of("TMath::Abs(x)>1"), "|TMath::Abs(x)>1");
  EXPECT_EQ(of("t:TMath::Abs(x)>1"), "t|TMath::Abs(x)>1");
  EXPECT_EQ(of(""), "none");
  EXPECT_EQ(of("t:"), "none");
}

TEST(TableShaping, DefinitionsHaveNames) {
  const auto made = parse_definition("t:m=a==b?1:0");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->table, "t");
  EXPECT_EQ(made->name, "m");
  EXPECT_EQ(made->expression, "a==b?1:0");
  EXPECT_EQ(parse_definition("m=x")->table, "");
  EXPECT_FALSE(parse_definition("m"));
  EXPECT_FALSE(parse_definition("m=="));
  EXPECT_FALSE(parse_definition("=x"));
  EXPECT_FALSE(parse_definition("m="));
}

TEST(TableShaping, TablesAreKnownByTheEndsOfTheirPaths) {
  const WantedExpression wanted{"dir/t", "", "x"};
  EXPECT_TRUE(wanted.is_for("/dir/t"));
  EXPECT_TRUE(wanted.is_for("/file.root/dir/t"));
  EXPECT_TRUE(wanted.is_for("dir/t"));
  EXPECT_FALSE(wanted.is_for("/otherdir/t"));
  EXPECT_FALSE(wanted.is_for("/t"));
  EXPECT_TRUE((WantedExpression{"", "", "x"}.is_for("/t")));
}

}  // namespace
}  // namespace tfilefs
