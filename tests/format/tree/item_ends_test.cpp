// SPDX-License-Identifier: Apache-2.0
#include "tree/read/item_ends.h"

#include <gtest/gtest.h>

#include <vector>

namespace tfile {
namespace {

TEST(ItemEnds, AreThoseInBytesDividedByTheSize) {
  for (const std::int32_t size : {1, 2, 3, 4, 8, 12, 24, 1024}) {
    std::vector<std::int32_t> bytes;
    for (std::int32_t i = 0; i < 100; ++i) bytes.push_back(i * i * size);
    std::vector<std::int64_t> ends(bytes.size());
    EXPECT_TRUE(item_ends(bytes, size, 1'000'000'000'000, ends.data()));
    for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(ends[static_cast<std::size_t>(i)], 1'000'000'000'000 + i * i);
  }
}

TEST(ItemEnds, APartOfAnItemIsNoticedWherever) {
  for (const std::int32_t size : {2, 3, 4, 8, 12})
    for (std::size_t place = 0; place < 40; ++place) {
      std::vector<std::int32_t> bytes(40, 5 * size);
      bytes[place] += size - 1;
      std::vector<std::int64_t> ends(bytes.size());
      EXPECT_FALSE(item_ends(bytes, size, 0, ends.data())) << size << " at " << place;
    }
}

TEST(ItemEnds, AreTheSameOrDifferWherever) {
  constexpr std::int64_t kBase = 5'000'000'000;
  for (const std::int32_t size : {1, 3, 4, 8}) {
    std::vector<std::int32_t> bytes;
    for (std::int32_t i = 0; i < 40; ++i) bytes.push_back(i / 2 * size);
    std::vector<std::int64_t> ends(bytes.size());
    ASSERT_TRUE(item_ends(bytes, size, kBase, ends.data()));
    EXPECT_TRUE(are_item_ends(bytes, size, kBase, ends));
    EXPECT_FALSE(are_item_ends(bytes, size, kBase + 1, ends));
    EXPECT_FALSE(are_item_ends(std::span(bytes).subspan(1), size, kBase, ends));
    for (std::size_t place = 0; place < bytes.size(); ++place) {
      ++bytes[place];
      EXPECT_FALSE(are_item_ends(bytes, size, kBase, ends)) << size << " at " << place;
      --bytes[place];
    }
  }
  EXPECT_TRUE(are_item_ends({}, 4, 0, {}));
}

}  // namespace
}  // namespace tfile
