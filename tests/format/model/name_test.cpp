// SPDX-License-Identifier: Apache-2.0
#include "tfile/name.h"

#include <gtest/gtest.h>

namespace tfile {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

TEST(Name, IsEscapedOnlyWhereItMustBe) {
  EXPECT_EQ(escape_name("plain name;1 \n\"'*"), "plain name;1 \n\"'*");
  EXPECT_EQ(escape_name("a/b"), "a%2Fb");
  EXPECT_EQ(escape_name("a\0b"sv), "a%00b");
  EXPECT_EQ(escape_name("100%"), "100%");
  EXPECT_EQ(escape_name("5%of"), "5%of");
  EXPECT_EQ(escape_name("5%2F"), "5%252F");
  EXPECT_EQ(escape_name("."), "%2E");
  EXPECT_EQ(escape_name(".."), "%2E.");
  EXPECT_EQ(escape_name("a.b"), "a.b");
  EXPECT_EQ(escape_name(""), "%");
  EXPECT_EQ(escape_name("\xff\xfe"), "\xff\xfe");
}

TEST(Name, TooLongIsCutAndTold) {
  const std::string just(kNameMax, 'a');
  EXPECT_EQ(escape_name(just), just);
  const std::string longer(kNameMax + 1, 'a');
  const std::string cut = escape_name(longer);
  EXPECT_EQ(cut.size(), kNameMax);
  EXPECT_EQ(cut[kNameMax - 9], '~');
  EXPECT_NE(cut, escape_name(longer + "b"));
}

TEST(Name, HashIsTheLowHalfOfXxh64) {
  // XXH64 of 300 times 'a' with seed 0, from Python's xxhash package: the low 32 bits.
  EXPECT_EQ(escape_name(std::string(300, 'a')).substr(kNameMax - 9), "~b9cfcfc7");
}

TEST(Name, IsCutAtACharacterBoundary) {
  for (std::size_t lead = 0; lead < 8; ++lead) {
    std::string name(lead, 'a');
    while (name.size() < 300) name += "\xE2\x82\xAC";  // three bytes each
    const std::string cut = escape_name(name);
    EXPECT_LE(cut.size(), kNameMax);
    EXPECT_GE(cut.size(), kNameMax - 2);
    const std::string stem = cut.substr(0, cut.size() - 9);
    EXPECT_EQ((stem.size() - lead) % 3, 0u) << lead;
  }
  const std::string slashes(300, '/');
  const std::string cut = escape_name(slashes);
  EXPECT_EQ(cut.substr(0, cut.size() - 9).size() % 3, 0u) << "no half of an escape";
  const std::string continuation(300, '\x80');  // not UTF-8: cut anywhere
  EXPECT_EQ(escape_name(continuation).size(), kNameMax);
}

TEST(Name, CollidingNamesAreToldApartInOrder) {
  const std::vector<std::string_view> names{"a/b", "a%2Fb", "", "%", "x", "x", "x"};
  const auto paths = directory_names(names);
  EXPECT_EQ(paths[0], "a%2Fb");
  EXPECT_EQ(paths[1], "a%252Fb");
  EXPECT_EQ(paths[2], "%");
  EXPECT_EQ(paths[3].substr(0, 2), "%~");
  EXPECT_EQ(paths[3].size(), 1u + 9u);
  EXPECT_EQ(paths[4], "x");
  EXPECT_EQ(paths[5].size(), 1u + 9u);
  EXPECT_EQ(paths[6], paths[5] + "~2");
}

TEST(Name, SuffixesTakePartInTheComparison) {
  const std::vector<std::string_view> names{"x", "x", "x"};
  const std::vector<std::string> suffixes{".f4", ".f8", ".f4"};
  const auto paths = directory_names(names, suffixes);
  EXPECT_EQ(paths[0], "x.f4");
  EXPECT_EQ(paths[1], "x.f8");
  EXPECT_EQ(paths[2].size(), 1u + 9u + 3u);
  EXPECT_TRUE(paths[2].ends_with(".f4"));
  const std::string longest(400, 'n');
  const std::vector<std::string_view> long_names{longest};
  EXPECT_EQ(directory_names(long_names, std::span(suffixes).first(1))[0].size(), kNameMax);
}

TEST(Name, ManyEqualNamesAreCheap) {
  const std::vector<std::string_view> names(100'000, "same");
  const auto paths = directory_names(names);
  EXPECT_EQ(paths.front(), "same");
  EXPECT_TRUE(paths.back().ends_with("~99999")) << paths.back();
}

TEST(Name, WhatWasEscapedIsUndone) {
  for (const std::string_view name : std::initializer_list<std::string_view>{
           "px", "a/b", ".hidden", "100%41", "50%", "", "a.b", {"a\0b", 3}, "%2F"}) {
    EXPECT_EQ(unescape_name(escape_name(name)), name);
  }
  EXPECT_EQ(unescape_name("a%2fb"), "a%2fb") << "escapes are written with capitals";
  EXPECT_EQ(unescape_name(escape_first_byte("offsets")), "offsets");
}

TEST(Name, NamesOfTheLayoutHaveTheirFirstByteEscaped) {
  EXPECT_EQ(member_component("values", ".f4x21"), "%76alues");
  EXPECT_EQ(member_component("values", ""), "%76alues");
  EXPECT_EQ(member_component("index", ".i4"), "index");
  EXPECT_EQ(member_component("a/b", ".i4"), "a%2Fb");
  for (const std::string_view name : {"values", "offsets", "chars", "raw", "tags", "index"})
    EXPECT_EQ(unescape_name(escape_first_byte(name)), name);
  EXPECT_EQ(unescape_name(escape_name("%76alues")), "%76alues");
}

}  // namespace
}  // namespace tfile
