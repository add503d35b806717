// SPDX-License-Identifier: Apache-2.0
#include "tree/copy/cut_baskets.h"

#include <gtest/gtest.h>

#include <memory>

namespace tfile {
namespace {

CutBaskets::ContentPtr basket(std::size_t size) {
  BasketContent content;
  content.payload = Buffer(size);
  content.bytes = content.payload.span();
  return std::make_shared<const BasketContent>(std::move(content));
}

TEST(CutBaskets, TheLastOfEachBranchIsThereUntilItIsDropped) {
  CutBaskets baskets(100);
  const auto first = basket(10), second = basket(10), other = basket(10);
  baskets.keep(3, 0, first);
  baskets.keep(5, 7, other);
  EXPECT_EQ(baskets.find(3, 0), first);
  EXPECT_EQ(baskets.find(3, 1), nullptr);
  baskets.keep(3, 1, second);
  EXPECT_EQ(baskets.find(3, 0), nullptr);
  EXPECT_EQ(baskets.find(3, 1), second);
  EXPECT_EQ(first.use_count(), 1);
  baskets.drop(3);
  baskets.drop(3);
  EXPECT_EQ(baskets.find(3, 1), nullptr);
  EXPECT_EQ(baskets.find(5, 7), other);
  baskets.clear();
  EXPECT_EQ(baskets.find(5, 7), nullptr);
  EXPECT_EQ(other.use_count(), 1);
}

TEST(CutBaskets, WithoutRoomThoseThatAreThereStay) {
  CutBaskets baskets(100);
  const auto small = basket(60);
  baskets.keep(0, 0, small);
  baskets.keep(1, 0, basket(60));
  EXPECT_EQ(baskets.find(0, 0), small);
  EXPECT_EQ(baskets.find(1, 0), nullptr);
  baskets.keep(0, 1, basket(101));
  EXPECT_EQ(baskets.find(0, 0), nullptr);
  EXPECT_EQ(baskets.find(0, 1), nullptr);
  baskets.keep(1, 0, basket(100));
  EXPECT_NE(baskets.find(1, 0), nullptr);
  baskets.keep(2, 0, basket(0));  // its bytes are those of the file, which go with the unit
  EXPECT_EQ(baskets.find(2, 0), nullptr);
}

}  // namespace
}  // namespace tfile
