// SPDX-License-Identifier: Apache-2.0
#include "bytes/kept_bytes.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tfile {
namespace {

std::vector<std::byte> bytes_at(std::uint64_t begin, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((begin + i) * 7);
  return bytes;
}

bool has(KeptBytes& kept, std::uint64_t begin, std::size_t size) {
  std::vector<std::byte> into(size);
  if (!kept.copy({begin, size}, into).empty()) return false;
  EXPECT_EQ(into, bytes_at(begin, size));
  return true;
}

TEST(KeptBytes, AreThoseUsedLast) {
  KeptBytes kept(250);
  for (const std::uint64_t begin : {0, 1000, 2000}) {
    kept.keep(begin, bytes_at(begin, 100));
    EXPECT_TRUE(has(kept, 0, 100));
  }
  EXPECT_FALSE(has(kept, 1000, 1));
  EXPECT_TRUE(has(kept, 2050, 50));
  EXPECT_FALSE(has(kept, 2050, 51));
  kept.keep(5000, bytes_at(5000, 300));
  EXPECT_FALSE(has(kept, 5000, 1)) << "more than is kept";
  EXPECT_EQ(kept.size(), 200u);
}

TEST(KeptBytes, AreRightWhateverOverlaps) {
  std::mt19937 random(1);
  KeptBytes kept(3000);
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t begin = random() % 10'000;
    const std::size_t size = 1 + random() % 400;
    kept.keep(begin, bytes_at(begin, size));
    EXPECT_LE(kept.size(), 3000u);
    ASSERT_TRUE(has(kept, begin, size));
    ASSERT_TRUE(has(kept, begin + size / 2, 1));
    const std::uint64_t other = random() % 10'000;
    const std::size_t other_size = 1 + random() % 2000;
    std::vector<std::byte> into(other_size), right = bytes_at(other, other_size);
    for (const ByteRange range : kept.copy({other, other_size}, into))
      std::copy_n(right.begin() + static_cast<std::ptrdiff_t>(range.begin - other), range.size,
                  into.begin() + static_cast<std::ptrdiff_t>(range.begin - other));
    ASSERT_EQ(into, right) << "what is kept, and the rest";
  }
}

}  // namespace
}  // namespace tfile
