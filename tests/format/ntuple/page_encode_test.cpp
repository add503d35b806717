// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_encode.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
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

// What f4 numbers become with fewer bits.
std::vector<float> short_numbers(const PageEncoding& encoding, const std::vector<float>& numbers) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(numbers));
  std::vector<std::byte> page(page_size(encoding, numbers.size()), std::byte{0xAA});
  EXPECT_EQ(first_out_of_range(encoding, bytes), numbers.size());
  encode_numbers(encoding, bytes, page);
  std::vector<float> back(numbers.size());
  EXPECT_TRUE(decode_numbers(encoding, page, numbers.size(), Dtype::f4, std::as_writable_bytes(std::span(back))));
  return back;
}

TEST(PageEncode, HalvesAreTheNearest) {
  const std::vector<float> numbers = {0.0F,          -0.0F,         1.0F,     1.0004883F, 1.0014648F,
                                      65504.0F,      65519.0F,      65520.0F, -1e9F,      5.9604645e-8F,
                                      2.9802322e-8F, 4.4703484e-8F, 6.1e-5F,  1.0F / 3,   1e-30F};
  const std::vector<float> wanted = {0.0F,     -0.0F,         1.0F,         1.0F,        1.0019531F,
                                     65504.0F, 65504.0F,      INFINITY,     -INFINITY,   5.9604645e-8F,
                                     0.0F,     5.9604645e-8F, 6.097555e-5F, 0.33325195F, 0.0F};
  for (const ColumnType type : {ColumnType::real16, ColumnType::split_real16}) {
    const PageEncoding encoding = *page_encoding(static_cast<std::uint16_t>(type), 16, 0, 0);
    ASSERT_TRUE(can_encode(encoding, Dtype::f4));
    EXPECT_EQ(short_numbers(encoding, numbers), wanted);
    const std::vector<float> many(40, 0.1F);  // more than a block of vectors
    EXPECT_EQ(short_numbers(encoding, many), std::vector<float>(40, 0.099975586F));
    EXPECT_TRUE(std::isnan(short_numbers(encoding, {NAN})[0]));
  }
}

TEST(PageEncode, TruncatedNumbersKeepTheirHighestBits) {
  for (std::uint16_t bits = 10; bits <= 31; ++bits) {
    const PageEncoding encoding = *page_encoding(static_cast<std::uint16_t>(ColumnType::real32_trunc), bits, 0, 0);
    std::vector<float> numbers, wanted;
    for (int i = 0; i < 37; ++i) {
      numbers.push_back(std::ldexp(1.0F + static_cast<float>(i) / 37, i - 20) * (i % 2 == 0 ? 1.0F : -1.0F));
      wanted.push_back(
          std::bit_cast<float>(std::bit_cast<std::uint32_t>(numbers.back()) >> (32 - bits) << (32 - bits)));
    }
    EXPECT_EQ(short_numbers(encoding, numbers), wanted) << bits;
  }
}

TEST(PageEncode, QuantizedNumbersAreNearAndInRange) {
  for (const int bits : {1, 7, 12, 31, 32}) {
    const PageEncoding encoding =
        *page_encoding(static_cast<std::uint16_t>(ColumnType::real32_quant), static_cast<std::uint16_t>(bits), -5, 100);
    std::vector<float> numbers = {-5, 100};
    for (int i = 0; i < 50; ++i) numbers.push_back(static_cast<float>(i) * 2 - 4.3F);
    const std::vector<float> back = short_numbers(encoding, numbers);
    EXPECT_EQ(back[0], -5);
    EXPECT_EQ(back[1], 100);
    const double step = 105.0 / static_cast<double>((std::uint64_t{1} << bits) - 1);
    for (std::size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], numbers[i], step / 2 * 1.001 + 1e-5) << bits;
    for (const float outside : {-5.1F, 101.0F, NAN}) {
      const std::vector<float> some = {1, outside, 2};
      EXPECT_EQ(first_out_of_range(encoding, std::as_bytes(std::span(some))), 1u);
    }
  }
}

TEST(PageEncode, OtherLossesAreNotWritten) {
  EXPECT_FALSE(can_encode(*page_encoding(static_cast<std::uint16_t>(ColumnType::real16), 16, 0, 0), Dtype::f8));
  EXPECT_FALSE(can_encode(*page_encoding(static_cast<std::uint16_t>(ColumnType::real32), 32, 0, 0), Dtype::f8));
  EXPECT_FALSE(can_encode(*page_encoding(static_cast<std::uint16_t>(ColumnType::index64), 64, 0, 0), Dtype::i8));
}

}  // namespace
}  // namespace tfile
