// SPDX-License-Identifier: Apache-2.0
#include "query/draw_text.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

TEST(DrawText, PartsMayBeLeftOut) {
  const auto all = parse_drawing("y:x;x>0;10,20;0:5,-1:1");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->expressions, "y:x");
  EXPECT_EQ(all->cut, "x>0");
  EXPECT_EQ(all->bins, (std::vector<std::int32_t>{10, 20}));
  ASSERT_EQ(all->ranges.size(), 2u);
  EXPECT_EQ(all->ranges[1], std::pair(-1.0, 1.0));
  EXPECT_TRUE(parse_drawing("x")->cut.empty());
  EXPECT_TRUE(parse_drawing("x;;;;"));
  EXPECT_FALSE(parse_drawing("x;;;;;"));
}

TEST(DrawText, QuotesHoldWhatEndsAPart) {
  const auto quoted = parse_drawing("`a;b`;name==\"x;`\";5");
  ASSERT_TRUE(quoted);
  EXPECT_EQ(quoted->expressions, "`a;b`");
  EXPECT_EQ(quoted->cut, "name==\"x;`\"");
  EXPECT_EQ(quoted->bins, std::vector<std::int32_t>{5});
}

TEST(DrawText, RangesAreFinite) {
  for (const char* wrong : {"1:0", "0", "0:inf", "-inf:inf", "-1e308:1e308", "nan:1", "a:b"}) {
    DrawRequest request;
    EXPECT_FALSE(take_ranges(wrong, request)) << wrong;
  }
  DrawRequest request;
  ASSERT_TRUE(take_ranges(",-1e300:1e300", request));
  EXPECT_FALSE(request.ranges[0]);
  EXPECT_EQ(request.ranges[1], std::pair(-1e300, 1e300));
}

}  // namespace
}  // namespace tfilefs
