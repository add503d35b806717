// SPDX-License-Identifier: Apache-2.0
#include "tfile/extents.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace tfile {
namespace {

using Items = std::vector<std::int64_t>;

TEST(ExtentSum, AddsChunkAfterChunk) {
  ExtentSum sum(2);
  sum.add(Items{3, 1});
  sum.add(Items{0, 5});
  EXPECT_EQ(sum.end(), (Items{3, 6}));
  const Extents extents = sum.take().value();
  EXPECT_EQ(extents.first[0], (Items{0, 3, 3}));
  EXPECT_EQ(extents.first[1], (Items{0, 1, 6}));
  EXPECT_EQ(extents.chunks(), 2u);
  EXPECT_EQ(extents.items_of(1), (Items{0, 5}));
  EXPECT_EQ(extents.length(1), 6);
  EXPECT_EQ(extents.chunk_of(1, 0), 0u);
  EXPECT_EQ(extents.chunk_of(1, 1), 1u);
  EXPECT_EQ(extents.chunk_of(1, 100), 1u) << "the last one holds what lies beyond";
}

TEST(ExtentSum, EndsAtWhatCannotBe) {
  for (const Items& wrong : {Items{-1}, Items{1, 1}, Items{}, Items{std::numeric_limits<std::int64_t>::max() / 64}}) {
    ExtentSum sum(1);
    sum.add(Items{7});
    sum.add(wrong);
    EXPECT_FALSE(sum.is_open());
    sum.add(Items{2});
    const Extents extents = sum.take().value();
    EXPECT_EQ(extents.first[0], (Items{0, 7}));
    EXPECT_EQ(extents.damage->kind, ErrorKind::damaged);
    EXPECT_EQ(extents.length(0), 8) << "one more than is known, so that a read there tells of the damage";
  }
}

TEST(ExtentSum, DamageIsPartOfTheExtentsAndAFailingDiskIsNot) {
  for (const ErrorKind kind : {ErrorKind::damaged, ErrorKind::unsupported, ErrorKind::io}) {
    ExtentSum sum(1);
    sum.stop({kind, "the first", -1, 0});
    sum.stop({kind, "the second", -1, 0});
    const auto extents = sum.take();
    EXPECT_EQ(extents.has_value(), kind != ErrorKind::io);
    EXPECT_EQ(extents ? extents->damage->text : extents.error().text, "the first");
  }
}

}  // namespace
}  // namespace tfile
