// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_encode.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "ntuple/page_decode.h"

namespace tfile {
namespace {

constexpr std::uint64_t kCountMax = 300;  // several blocks of the vectorised loops, and what is left of one

struct Pair {
  ColumnType type;
  std::uint16_t bits;
  Dtype dtype;
};

constexpr Pair kPairs[] = {
    {ColumnType::bit, 1, Dtype::b1},           {ColumnType::byte, 8, Dtype::u1},
    {ColumnType::character, 8, Dtype::i1},     {ColumnType::int8, 8, Dtype::i1},
    {ColumnType::uint8, 8, Dtype::u1},         {ColumnType::int16, 16, Dtype::i2},
    {ColumnType::uint16, 16, Dtype::u2},       {ColumnType::int32, 32, Dtype::i4},
    {ColumnType::uint32, 32, Dtype::u4},       {ColumnType::int64, 64, Dtype::i8},
    {ColumnType::uint64, 64, Dtype::u8},       {ColumnType::real32, 32, Dtype::f4},
    {ColumnType::real64, 64, Dtype::f8},       {ColumnType::split_int16, 16, Dtype::i2},
    {ColumnType::split_uint16, 16, Dtype::u2}, {ColumnType::split_int32, 32, Dtype::i4},
    {ColumnType::split_uint32, 32, Dtype::u4}, {ColumnType::split_int64, 64, Dtype::i8},
    {ColumnType::split_uint64, 64, Dtype::u8}, {ColumnType::split_real32, 32, Dtype::f4},
    {ColumnType::split_real64, 64, Dtype::f8},
};

PageEncoding encoding_of(const Pair& pair) {
  return *page_encoding(static_cast<std::uint16_t>(pair.type), pair.bits, 0, 0);
}

std::vector<std::byte> random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(PageEncode, NumbersComeBackAsTheyWere) {
  for (const Pair& pair : kPairs) {
    const PageEncoding encoding = encoding_of(pair);
    ASSERT_TRUE(can_encode(encoding, pair.dtype));
    for (std::uint64_t count = 0; count <= kCountMax; ++count) {
      std::vector<std::byte> numbers = random_bytes(count * size_of(pair.dtype), static_cast<unsigned>(count));
      if (pair.dtype == Dtype::b1) {
        for (std::byte& each : numbers) each &= std::byte{1};
      }
      std::vector<std::byte> page(page_size(encoding, count)), back(numbers.size());
      encode_numbers(encoding, numbers, page);
      ASSERT_TRUE(decode_numbers(encoding, page, count, pair.dtype, back));
      ASSERT_EQ(numbers, back) << static_cast<int>(pair.type) << " with " << count;
    }
  }
}

// What the specification says, byte by byte.
TEST(PageEncode, SplitNumbersAreZigzagAndTransposed) {
  const std::int16_t numbers[] = {0, -1, 1, 300};
  std::vector<std::byte> page(8);
  encode_numbers(encoding_of({ColumnType::split_int16, 16, Dtype::i2}), std::as_bytes(std::span(numbers)), page);
  const std::vector<std::byte> wanted = {std::byte{0}, std::byte{1}, std::byte{2}, std::byte{0x58},
                                         std::byte{0}, std::byte{0}, std::byte{0}, std::byte{2}};
  EXPECT_EQ(page, wanted);
}

TEST(PageEncode, AnyByteButZeroIsTrue) {
  const std::vector<std::byte> booleans = {std::byte{0x80}, std::byte{0}, std::byte{1}, std::byte{0x40},
                                           std::byte{0},    std::byte{0}, std::byte{0}, std::byte{255},
                                           std::byte{2},    std::byte{0}};
  std::vector<std::byte> page(2);
  encode_numbers(encoding_of({ColumnType::bit, 1, Dtype::b1}), booleans, page);
  EXPECT_EQ(page, (std::vector<std::byte>{std::byte{0x8D}, std::byte{1}}));
}

TEST(PageEncode, EndsComeBackFromTheirBase) {
  std::mt19937 random(1);
  constexpr std::pair<ColumnType, std::uint16_t> kTypes[] = {{ColumnType::index32, 32},
                                                             {ColumnType::index64, 64},
                                                             {ColumnType::split_index32, 32},
                                                             {ColumnType::split_index64, 64}};
  for (const auto& [type, bits] : kTypes) {
    const PageEncoding encoding = *page_encoding(static_cast<std::uint16_t>(type), bits, 0, 0);
    for (std::uint64_t count = 0; count <= kCountMax; ++count) {
      std::vector<std::int64_t> offsets = {1000 + static_cast<std::int64_t>(random() % 100)};
      for (std::uint64_t i = 0; i < count; ++i) offsets.push_back(offsets.back() + random() % 5);
      constexpr std::int64_t kBase = 900;
      std::vector<std::byte> page(page_size(encoding, count));
      encode_ends(encoding, std::as_bytes(std::span(offsets)), kBase, page);
      std::vector<std::int64_t> back(count);
      ASSERT_TRUE(decode_ends(encoding, page, count, kBase, std::as_writable_bytes(std::span(back))));
      ASSERT_TRUE(std::equal(back.begin(), back.end(), offsets.begin() + 1)) << bits << " with " << count;
    }
  }
}

TEST(PageEncode, SwitchesComeBackFromTheirBases) {
  const std::vector<std::byte> tags = {std::byte{1}, std::byte{0}, std::byte{2}, std::byte{1}};
  const std::vector<std::int64_t> positions = {10, 0, 21, 11}, bases = {10, 20};
  std::vector<std::byte> page(12 * 4), tags_back(4);
  std::vector<std::int64_t> positions_back(4);
  encode_switch(tags, std::as_bytes(std::span(positions)), bases, page);
  ASSERT_TRUE(decode_switch(page, 4, bases, tags_back, std::as_writable_bytes(std::span(positions_back))));
  EXPECT_EQ(tags, tags_back);
  EXPECT_EQ(positions, positions_back);
}

TEST(PageEncode, LossyColumnsAreNotWritten) {
  EXPECT_FALSE(can_encode(*page_encoding(static_cast<std::uint16_t>(ColumnType::real16), 16, 0, 0), Dtype::f4));
  EXPECT_FALSE(can_encode(*page_encoding(static_cast<std::uint16_t>(ColumnType::real32), 32, 0, 0), Dtype::f8));
  EXPECT_FALSE(can_encode(*page_encoding(static_cast<std::uint16_t>(ColumnType::index64), 64, 0, 0), Dtype::i8));
}

}  // namespace
}  // namespace tfile
