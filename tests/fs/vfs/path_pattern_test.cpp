// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/path_pattern.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

using Texts = std::vector<std::string>;

TEST(PathPattern, TellsWhatHasAPattern) {
  for (const char* text : {"*", "run?.root", "[ab]", "{a,b}", "\\\\*"}) EXPECT_TRUE(has_pattern(text)) << text;
  for (const char* text : {"", "run.root", "\\*", "a]", "a}", "a,b", "\\[\\{\\?"})
    EXPECT_FALSE(has_pattern(text)) << text;
}

TEST(PathPattern, EveryTextIsAPatternOfItself) {
  for (const std::string text : {"a*b", "a?", "[x]", "{a,b}", "back\\slash", "plain", "{", "a,b}"}) {
    const std::string pattern = as_pattern(text);
    EXPECT_FALSE(has_pattern(pattern)) << text;
    EXPECT_EQ(*without_braces(pattern), Texts{pattern}) << text;
    EXPECT_TRUE(matches(pattern, text)) << text;
    EXPECT_EQ(unescaped(pattern), text);
    EXPECT_FALSE(matches(pattern, text + "x")) << text;
  }
}

TEST(PathPattern, BracesStandForEachOfTheirTexts) {
  EXPECT_EQ(*without_braces("plain"), Texts{"plain"});
  EXPECT_EQ(*without_braces("{b,a}.root"), (Texts{"b.root", "a.root"}));
  EXPECT_EQ(*without_braces("x{1,2}{a,b}"), (Texts{"x1a", "x1b", "x2a", "x2b"}));
  EXPECT_EQ(*without_braces("{a{1,2},b}"), (Texts{"a1", "a2", "b"}));
  EXPECT_EQ(*without_braces("{,x}y"), (Texts{"y", "xy"}));
  EXPECT_EQ(*without_braces("{one}"), Texts{"{one}"});
  EXPECT_EQ(*without_braces("{open,"), Texts{"{open,"});
  EXPECT_EQ(*without_braces("{one}{a,b}"), (Texts{"{one}a", "{one}b"}));
  EXPECT_EQ(*without_braces("\\{a,b}"), Texts{"\\{a,b}"});
}

TEST(PathPattern, AProductOfBracesIsBounded) {
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "{a,b}";
  const auto found = without_braces(pattern);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::invalid);
}

TEST(PathPattern, MatchesAsShellsDo) {
  EXPECT_TRUE(matches("Run*.root", "Run12.root"));
  EXPECT_TRUE(matches("Run?.root", "Run1.root"));
  EXPECT_FALSE(matches("Run?.root", "Run12.root"));
  EXPECT_TRUE(matches("[a-c]x", "bx"));
  EXPECT_TRUE(matches("[!a-c]x", "dx"));
  EXPECT_FALSE(matches("*", ".hidden"));
  EXPECT_TRUE(matches(".*", ".hidden"));
  EXPECT_TRUE(matches("*", "\xff\xfe"));
}

TEST(PathPattern, TellsTheWayToWhatMatchesAndWhatLiesBelow) {
  const auto pattern = PathPattern::parse("run*/{a,b}.root");
  ASSERT_TRUE(pattern);
  for (const char* path : {"", "run1"}) {
    EXPECT_TRUE(pattern->fit(path).leads) << path;
    EXPECT_FALSE(pattern->fit(path).matches || pattern->fit(path).below) << path;
  }
  for (const char* path : {"run1/a.root", "run22/b.root"}) {
    EXPECT_TRUE(pattern->fit(path).matches) << path;
    EXPECT_FALSE(pattern->fit(path).leads || pattern->fit(path).below) << path;
  }
  EXPECT_TRUE(pattern->fit("run1/a.root/Events/x.f4").below);
  for (const char* path : {"other", "other/a.root", "run1/c.root", "run1/c.root/Events"})
    EXPECT_FALSE(pattern->fit(path).is_shown()) << path;
  EXPECT_TRUE(PathPattern().fit("anything/at/all").is_shown());
}

TEST(PathPattern, TwoStarsAreAnyNumberOfDirectories) {
  const auto pattern = PathPattern::parse("data/**/**/run?.root");
  ASSERT_TRUE(pattern);
  for (const char* path : {"data/run1.root", "data/a/run1.root", "data/a/b/c/run1.root", "data/run1.root/run2.root"})
    EXPECT_TRUE(pattern->fit(path).matches) << path;
  for (const char* path : {"", "data", "data/a", "data/a/b"}) {
    EXPECT_TRUE(pattern->fit(path).leads) << path;
    EXPECT_FALSE(pattern->fit(path).matches) << path;
  }
  EXPECT_TRUE(pattern->fit("data/a/run1.root/Events").below);
  for (const char* path : {"other", "data/.hidden", "data/.hidden/run1.root"})
    EXPECT_FALSE(pattern->fit(path).is_shown()) << path;
  const auto all = PathPattern::parse("**");
  EXPECT_TRUE(all->fit("a/b").matches && all->fit("a/b").leads);
}

TEST(PathPattern, AlternativesMayHaveDifferentDepths) {
  const auto pattern = PathPattern::parse("{a,a/b}");
  ASSERT_TRUE(pattern);
  EXPECT_TRUE(pattern->fit("a").matches && pattern->fit("a").leads);
  EXPECT_TRUE(pattern->fit("a/b").matches && pattern->fit("a/b").below);
}

TEST(PathPattern, IsSplitBehindTheDirectoriesThatAreNamed) {
  const auto split = [](std::string_view path) {
    const PatternedPath parts = split_at_pattern(path);
    return std::pair(parts.directory, parts.pattern);
  };
  EXPECT_EQ(split("/data/run*/f.root"), std::pair(std::string("/data/"), std::string("run*/f.root")));
  EXPECT_EQ(split("*.root"), std::pair(std::string(), std::string("*.root")));
  EXPECT_EQ(split("/a\\*/b[1]"), std::pair(std::string("/a\\*/"), std::string("b[1]")));
  EXPECT_EQ(split("/d/{a/x,b}/y"), std::pair(std::string("/d/"), std::string("{a/x,b}/y")));
}

}  // namespace
}  // namespace tfilefs
