// SPDX-License-Identifier: Apache-2.0
#include "told_names.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

TEST(ToldNames, TheFirstAndHowManyMore) {
  ToldNames told(2);
  EXPECT_EQ(told.text(), "");
  told.add("a");
  EXPECT_EQ(told.text(), "a");
  told.add("b");
  EXPECT_EQ(told.text(), "a, b");
  for (int i = 0; i < 3; ++i) told.add("c");
  EXPECT_EQ(told.text(), "a, b and 3 more");
  EXPECT_EQ(told.size(), 5u);
}

}  // namespace
}  // namespace tfilefs
