// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "tree/write/basket_encode.h"

namespace tfile {
namespace {

TEST(BasketSizes, ABasketTellsWhatAnEntryTakes) {
  Part basket;
  basket.stored = Buffer(300, Use::passing);
  basket.entries = 100;
  basket.raw_bytes = 470;
  EXPECT_DOUBLE_EQ(entry_bytes(basket).raw, 4.7);
  EXPECT_DOUBLE_EQ(entry_bytes(basket).stored, 3);
}

TEST(BasketSizes, BasketsHaveAPowerOfTwoOfEntries) {
  EXPECT_EQ(basket_entries({}), 0) << "no sample";
  EXPECT_EQ(basket_entries({4.01, 1}), 32768);
  EXPECT_EQ(basket_entries({5, 1}), 16384);
  EXPECT_EQ(basket_entries({1e6, 1}), 1) << "an entry that is larger than that";
}

TEST(BasketSizes, ClustersAreOfWholeBasketsUnlessThatTakesMuch) {
  EXPECT_EQ(cluster_entries(1000, 10, {}), 100);
  EXPECT_EQ(cluster_entries(1000, 10, std::vector<std::int64_t>{16, 8, 64}), 96) << "64 would take a third";
  EXPECT_EQ(cluster_entries(1000, 5000, std::vector<std::int64_t>{16}), 1);
}

TEST(BasketSizes, BuffersAreRoundedAsOptimizeBasketsDoes) {
  EXPECT_EQ(basket_buffer_size({4.01, 1}, 1000), 4096);
  EXPECT_EQ(basket_buffer_size({0.1, 1}, 1), 512);
  EXPECT_EQ(basket_buffer_size({4.01, 1}, 32768), 128 << 10);
}

}  // namespace
}  // namespace tfile
