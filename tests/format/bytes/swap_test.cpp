// SPDX-License-Identifier: Apache-2.0
#include "bytes/swap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tfile {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t size) {
  std::minstd_rand random(static_cast<unsigned>(size) + 1);
  Bytes bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random() >> 8);
  return bytes;
}

// All lengths around those of vector registers, at unaligned places.
TEST(Swap, EachItemIsReversedAndNothingElse) {
  for (const std::size_t item_size : {1u, 2u, 4u, 8u})
    for (std::size_t items = 0; items < 70; ++items)
      for (const std::size_t before : {0u, 1u, 7u}) {
        const std::size_t size = items * item_size;
        const Bytes from = random_bytes(before + size + 3);
        Bytes expected = from;
        for (std::size_t i = 0; i < items; ++i) {
          const auto item = expected.begin() + static_cast<std::ptrdiff_t>(before + i * item_size);
          std::reverse(item, item + static_cast<std::ptrdiff_t>(item_size));
        }
        Bytes in_place = from;
        swap_items(std::span(in_place).subspan(before, size), item_size);
        EXPECT_EQ(in_place, expected) << items << " items of " << item_size << " at " << before;
        Bytes elsewhere = from;
        swap_items(std::span<const std::byte>(from).subspan(before, size), elsewhere.data() + before, item_size);
        EXPECT_EQ(elsewhere, expected) << items << " items of " << item_size << " at " << before;
      }
}

}  // namespace
}  // namespace tfile
