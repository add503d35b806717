// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <string>

#include "bytes/endian.h"
#include "compression/frame.h"

namespace tfile {
namespace {

using Bytes = std::vector<std::byte>;
using Algorithm = Compression::Algorithm;

constexpr Algorithm kAlgorithms[] = {Algorithm::zlib, Algorithm::lzma, Algorithm::lz4, Algorithm::zstd};

Bytes text_of(std::size_t size) {
  Bytes bytes;
  for (std::size_t i = 0; bytes.size() < size; ++i) {
    for (const char c : std::to_string(i * 2654435761u % 1000)) bytes.push_back(static_cast<std::byte>(c));
  }
  bytes.resize(size);
  return bytes;
}

Bytes noise(std::size_t size) {
  Bytes bytes(size);
  std::mt19937 random(1);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

// Returns the stored bytes.
std::size_t expect_back(const Bytes& payload, std::size_t ascending, const Compression& compression) {
  Bytes stored;
  const auto shrinks = compress(payload, ascending, compression, stored);
  EXPECT_TRUE(shrinks) << shrinks.error().text;
  EXPECT_TRUE(shrinks && *shrinks);
  EXPECT_LT(stored.size(), payload.size());
  const auto back = decompress(stored, payload.size());
  EXPECT_TRUE(back) << back.error().text;
  EXPECT_TRUE(back && std::equal(payload.begin(), payload.end(), back->data()));
  return stored.size();
}

TEST(Compress, EveryAlgorithmAndLevelReadsBack) {
  for (const Algorithm algorithm : kAlgorithms) {
    for (int level = 1; level <= 9; ++level) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(algorithm) << ":" << level);
      const Bytes payload = text_of(100000 + 100 * static_cast<std::size_t>(level));
      for (const std::size_t ascending : {std::size_t{0}, std::size_t{60001}, payload.size()})
        expect_back(payload, ascending, {algorithm, level});
    }
  }
}

// Big-endian numbers, as in baskets.
template <class T, class Number>
Bytes numbers(std::size_t count, Number number) {
  Bytes bytes(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) store_big(bytes.data() + i * sizeof(T), static_cast<T>(number(i)));
  return bytes;
}

// As in a page of an RNTuple: the first bytes of all numbers, then the second ones, and so on.
Bytes in_planes(const Bytes& numbers) {
  Bytes planes(numbers.size());
  const std::size_t count = numbers.size() / 4;
  for (std::size_t i = 0; i < numbers.size(); ++i) planes[i % 4 * count + i / 4] = numbers[i];
  return planes;
}

std::size_t size_with_zlib(const Bytes& payload) {
  uLongf size = compressBound(payload.size());
  Bytes packed(size);
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(payload.data()),
            payload.size(), 1);
  return size;
}

// For all kinds of numbers, and with every encoder.
TEST(Compress, FastestZlibIsAsSmallAsZlib) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 20);
  const auto coarse = [&](std::size_t) { return std::bit_cast<std::uint32_t>(normal(random)) & 0xFFFFE000; };
  const Bytes floats = numbers<std::uint32_t>(25000, coarse);
  const Bytes entries = numbers<std::int64_t>(12000, [](std::size_t i) { return 1'000'000 + i; });
  std::size_t at = 77;
  const Bytes offsets = numbers<std::int32_t>(4000, [&](std::size_t) { return at += 4 * (random() % 9); });
  const Bytes flags = numbers<std::uint8_t>(30000, [&](std::size_t) { return random() % 50 == 0; });
  const Bytes small = numbers<std::int32_t>(25000, [&](std::size_t) { return random() % 7; });
  const Bytes page = in_planes(numbers<std::uint32_t>(60000, coarse));
  for (const Bytes* data : {&floats, &entries, &offsets, &flags, &small, &page}) {
    const double alone = static_cast<double>(expect_back(*data, data->size(), {Algorithm::zlib, 1}));
    EXPECT_LT(alone, 1.03 * static_cast<double>(size_with_zlib(*data)));
    Bytes both = *data;
    both.insert(both.end(), offsets.begin(), offsets.end());
    const double jagged = static_cast<double>(expect_back(both, data->size(), {Algorithm::zlib, 1}));
    EXPECT_LT(jagged, 1.03 * static_cast<double>(size_with_zlib(both)));
  }
}

// Recurring values of four bytes among others: the fast default level must not miss them. The next level searches as
// zstd itself does.
TEST(Compress, DefaultZstdFindsRoundedNumbers) {
  std::mt19937 random(7);
  std::exponential_distribution<float> energies(1.0f / 30);
  Bytes payload;
  while (payload.size() < 128 << 10) {
    const auto bytes = std::bit_cast<std::array<std::byte, 4>>(std::round(energies(random) * 100) / 100);
    payload.insert(payload.end(), bytes.begin(), bytes.end());
  }
  const std::size_t size = expect_back(payload, payload.size(), {Algorithm::zstd, 5});
  EXPECT_LE(size * 100, expect_back(payload, payload.size(), {Algorithm::zstd, 6}) * 102);
}

TEST(Compress, NumbersThatGoUpBeyondABlock) {
  const Bytes payload = text_of(17'000'004);
  expect_back(payload, 1000, {Algorithm::zlib, 1});
  expect_back(payload, 16'900'000, {Algorithm::zlib, 1});
}

TEST(Compress, PayloadsBeyondABlockAreChainsOfBlocks) {
  const Bytes payload = text_of(17'000'004);
  Bytes stored;
  ASSERT_TRUE(*compress(payload, payload.size(), {Algorithm::lz4, 1}, stored));
  // The first block has the largest size that three bytes can hold (little-endian, at byte 6).
  EXPECT_EQ(stored[6], std::byte{0xFF});
  EXPECT_EQ(stored[7], std::byte{0xFF});
  EXPECT_EQ(stored[8], std::byte{0xFF});
  for (const Algorithm algorithm : kAlgorithms) expect_back(payload, payload.size(), {algorithm, 1});
}

TEST(Compress, WhatWouldNotShrinkIsStoredWhole) {
  for (const Algorithm algorithm : kAlgorithms) {
    Bytes stored = {std::byte{7}};
    EXPECT_FALSE(*compress(noise(5000), 5000, {algorithm, 5}, stored));
    EXPECT_FALSE(*compress(text_of(3), 3, {algorithm, 5}, stored));
    EXPECT_EQ(stored, Bytes{std::byte{7}}) << "nothing may be appended";
  }
}

TEST(Compress, OneBlockThatDoesNotShrinkStoresAllOfThem) {
  Bytes payload = text_of(0xFFFFFF);
  const Bytes tail = noise(4000);
  payload.insert(payload.end(), tail.begin(), tail.end());
  Bytes stored;
  EXPECT_FALSE(*compress(payload, payload.size(), {Algorithm::zlib, 1}, stored));
  EXPECT_TRUE(stored.empty());
}

TEST(Compress, NoneAndLevelZeroStore) {
  Bytes stored;
  EXPECT_FALSE(*compress(text_of(5000), 5000, {Algorithm::none, 5}, stored));
  EXPECT_FALSE(*compress(text_of(5000), 5000, {Algorithm::zstd, 0}, stored));
}

TEST(ParseCompression, NamesAndLevels) {
  const auto settings = [](const char* text) {
    const auto parsed = parse_compression(text);
    return parsed ? parsed->settings() : -1;
  };
  EXPECT_EQ(settings("none"), 0);
  EXPECT_EQ(settings("zlib"), 101);
  EXPECT_EQ(settings("lzma"), 207);
  EXPECT_EQ(settings("lz4"), 404);
  EXPECT_EQ(settings("zstd"), 505);
  EXPECT_EQ(settings("zlib:9"), 109);
  for (const char* wrong :
       {"", "gzip", "zlib:", "zlib:0", "zlib:10", "zlib:1x", "zlib:-1", "none:3", ":5", "lz4:4:4"}) {
    EXPECT_EQ(settings(wrong), -1) << wrong;
  }
}

}  // namespace
}  // namespace tfile
