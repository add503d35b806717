// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vfs/names/name_index.h"

namespace tfilefs {
namespace {

TEST(Names, Cycles) {
  EXPECT_EQ(parse_cycle("name;7")->name, "name");
  EXPECT_EQ(parse_cycle("name;7")->cycle, 7);
  EXPECT_EQ(parse_cycle("a;b;65535")->name, "a;b");
  EXPECT_EQ(parse_cycle(";1")->name, "");
  for (const char* wrong : {"", "name", "name;", "name;07", "name;+7", "name;7x", "name;65536", "name;0"})
    EXPECT_FALSE(parse_cycle(wrong)) << wrong;
}

TEST(Names, Suffixes) {
  EXPECT_EQ(without_suffix("px.npy", ".npy"), "px");
  EXPECT_FALSE(without_suffix(".npy", ".npy"));
  EXPECT_FALSE(without_suffix("npy", ".npy"));
}

TEST(Names, AnIndexFindsTheFirstOfEqualNames) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("n" + std::to_string(i % 600));
  const auto name_of = [&](std::uint32_t i) -> std::string_view { return names[i]; };
  NameIndex index(names.size());
  for (std::uint32_t i = 0; i < names.size(); ++i) EXPECT_EQ(index.add(i, name_of), i % 600);
  for (std::uint32_t i = 0; i < 600; ++i) EXPECT_EQ(index.find(names[i], name_of), i);
  EXPECT_FALSE(index.find("n600", name_of));
  EXPECT_FALSE(NameIndex().find("n", name_of));
}

}  // namespace
}  // namespace tfilefs
