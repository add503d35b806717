// SPDX-License-Identifier: Apache-2.0
#include "compression/encode.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

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

void expect_back(const Bytes& payload, const Compression& compression) {
  Bytes stored;
  const auto shrinks = compress(payload, compression, stored);
  ASSERT_TRUE(shrinks) << shrinks.error().text;
  ASSERT_TRUE(*shrinks);
  EXPECT_LT(stored.size(), payload.size());
  const auto back = decompress(stored, payload.size());
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_TRUE(std::equal(payload.begin(), payload.end(), back->data()));
}

TEST(Compress, EveryAlgorithmAndLevelReadsBack) {
  for (const Algorithm algorithm : kAlgorithms) {
    for (int level = 1; level <= 9; ++level) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(algorithm) << ":" << level);
      expect_back(text_of(100000 + 100 * static_cast<std::size_t>(level)), {algorithm, level});
    }
  }
}

TEST(Compress, PayloadsBeyondABlockAreChainsOfBlocks) {
  const Bytes payload = text_of(17'000'004);
  Bytes stored;
  ASSERT_TRUE(*compress(payload, {Algorithm::lz4, 1}, stored));
  // The first block is as large as three bytes can say: little-endian at its byte 6.
  EXPECT_EQ(stored[6], std::byte{0xFF});
  EXPECT_EQ(stored[7], std::byte{0xFF});
  EXPECT_EQ(stored[8], std::byte{0xFF});
  for (const Algorithm algorithm : kAlgorithms) expect_back(payload, {algorithm, 1});
}

TEST(Compress, WhatWouldNotShrinkIsStoredWhole) {
  for (const Algorithm algorithm : kAlgorithms) {
    Bytes stored = {std::byte{7}};
    EXPECT_FALSE(*compress(noise(5000), {algorithm, 5}, stored));
    EXPECT_FALSE(*compress(text_of(3), {algorithm, 5}, stored));
    EXPECT_EQ(stored, Bytes{std::byte{7}}) << "nothing may be appended";
  }
}

TEST(Compress, OneBlockThatDoesNotShrinkStoresAllOfThem) {
  Bytes payload = text_of(0xFFFFFF);
  const Bytes tail = noise(4000);
  payload.insert(payload.end(), tail.begin(), tail.end());
  Bytes stored;
  EXPECT_FALSE(*compress(payload, {Algorithm::zlib, 1}, stored));
  EXPECT_TRUE(stored.empty());
}

TEST(Compress, NoneAndLevelZeroStore) {
  Bytes stored;
  EXPECT_FALSE(*compress(text_of(5000), {Algorithm::none, 5}, stored));
  EXPECT_FALSE(*compress(text_of(5000), {Algorithm::zstd, 0}, stored));
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
  for (const char* wrong : {"", "gzip", "zlib:", "zlib:0", "zlib:10", "zlib:1x", "zlib:-1", "none:3", ":5", "lz4:4:4"}) {
    EXPECT_EQ(settings(wrong), -1) << wrong;
  }
}

}  // namespace
}  // namespace tfile
