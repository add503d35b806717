// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/staged_tree.h"

#include <gtest/gtest.h>

#include <climits>

namespace tfilefs {
namespace {

NodePtr directory(const NodePtr& in, const std::string& name) {
  auto node = std::make_shared<StagedNode>(0, true, name, in);
  if (in) attach(in, node, name);
  return node;
}

NodePtr chain(const NodePtr& top, std::size_t levels) {
  NodePtr at = top;
  for (std::size_t i = 0; i < levels; ++i) at = directory(at, "d");
  return at;
}

TEST(StagedTree, EndsWithoutTheStackHoweverDeepItIs) {
  constexpr std::size_t kLevels = 1'000'000;
  const auto root = directory(nullptr, "");
  chain(root, kLevels);
  EXPECT_EQ(longest_path(*root), 2 * kLevels);
}

TEST(StagedTree, WhatIsStillHeldOutlivesWhatIsAboveIt) {
  auto root = directory(nullptr, "");
  const auto held = chain(root, 10);
  const auto below = chain(held, 10);
  root.reset();
  EXPECT_EQ(held->children.size(), 1u);
  EXPECT_EQ(staged_path(*below).size(), 2 * 10 - 1u);  // the nodes above are gone
}

TEST(StagedTree, PathsAreShorterThanTheSystemsLongest) {
  EXPECT_TRUE(is_short_path(""));
  EXPECT_TRUE(is_short_path("a/" + std::string(NAME_MAX, 'b') + "/c"));
  EXPECT_FALSE(is_short_path("a/" + std::string(NAME_MAX + 1, 'b') + "/c"));
  std::string longest;
  while (longest.size() + 2 < PATH_MAX) longest += "a/";
  EXPECT_EQ(longest.size(), PATH_MAX - 2u);
  EXPECT_TRUE(is_short_path(longest + "a"));
  EXPECT_FALSE(is_short_path(longest + "aa"));
}

TEST(StagedTree, WhatIsMovedBringsWhatLiesBelowIt) {
  const auto root = directory(nullptr, "");
  const auto deep = chain(root, 1000);  // a path of 1999 bytes
  const auto other = directory(root, "e");
  chain(other, 1047);  // 2094 bytes below it
  EXPECT_TRUE(fits(*deep, "e"));
  EXPECT_TRUE(fits(*deep, "e", other.get()));  // 1999 + 2 + 2094
  chain(other, 0);
  directory(node_at(root, "e/d"), "dd");
  EXPECT_TRUE(fits(*deep, "e", other.get()));
  EXPECT_FALSE(fits(*deep, "ee", other.get()));
  EXPECT_FALSE(fits(*root, std::string(NAME_MAX + 1, 'n')));
}

}  // namespace
}  // namespace tfilefs
