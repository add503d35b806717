// SPDX-License-Identifier: Apache-2.0
#include "compression/frame.h"

#include <gtest/gtest.h>
#include <lz4.h>
#include <lzma.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>
#include <string>
#include <vector>

namespace tfile {
namespace {

using Bytes = std::vector<std::byte>;

std::span<const std::byte> bytes_of(const std::string& s) { return std::as_bytes(std::span(s)); }

std::string sample(std::size_t size) {
  std::string s;
  for (std::size_t i = 0; s.size() < size; ++i) s += std::to_string(i * 2654435761u % 1000) + ' ';
  s.resize(size);
  return s;
}

Bytes block(const char* tag, std::uint8_t method, const std::string& data, std::size_t size) {
  Bytes out;
  for (int i = 0; i < 2; ++i) out.push_back(std::byte(tag[i]));
  out.push_back(std::byte(method));
  for (int i = 0; i < 3; ++i) out.push_back(std::byte(data.size() >> 8 * i));
  for (int i = 0; i < 3; ++i) out.push_back(std::byte(size >> 8 * i));
  for (char c : data) out.push_back(std::byte(c));
  return out;
}

std::string deflated(const std::string& raw, int window_bits) {
  std::string out(raw.size() + 100, 0);
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
  stream.avail_in = static_cast<uInt>(raw.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string lzma_data(const std::string& raw) {
  std::string out(raw.size() + 200, 0);
  std::size_t used = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(5, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>(raw.data()),
                                    raw.size(), reinterpret_cast<std::uint8_t*>(out.data()), &used, out.size()),
            LZMA_OK);
  out.resize(used);
  return out;
}

std::string lz4_data(const std::string& raw) {
  std::string out(raw.size() + 200, 0);
  out.resize(static_cast<std::size_t>(
      LZ4_compress_default(raw.data(), out.data(), static_cast<int>(raw.size()), static_cast<int>(out.size()))));
  XXH64_canonical_t hash;
  XXH64_canonicalFromHash(&hash, XXH64(out.data(), out.size(), 0));
  return std::string(reinterpret_cast<const char*>(hash.digest), sizeof hash.digest) + out;
}

std::string zstd_data(const std::string& raw) {
  std::string out(ZSTD_compressBound(raw.size()), 0);
  out.resize(ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), 5));
  return out;
}

Bytes encoded(const std::string& codec, const std::string& raw) {
  if (codec == "zlib") return block("ZL", 8, deflated(raw, 15), raw.size());
  if (codec == "cs") return block("CS", 8, deflated(raw, -15), raw.size());
  if (codec == "lzma") return block("XZ", 0, lzma_data(raw), raw.size());
  if (codec == "lz4") return block("L4", 1, lz4_data(raw), raw.size());
  return block("ZS", 1, zstd_data(raw), raw.size());
}

std::string decoded_text(const Buffer& buffer) { return {reinterpret_cast<const char*>(buffer.data()), buffer.size()}; }

class EachCodec : public testing::TestWithParam<const char*> {};

TEST_P(EachCodec, DecodesOneBlock) {
  const std::string raw = sample(5000);
  const Bytes stored = encoded(GetParam(), raw);
  EXPECT_STREQ(codec_name(stored, raw.size()), GetParam());
  const auto back = decompress(stored, raw.size());
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(decoded_text(*back), raw);
}

TEST_P(EachCodec, DecodesTwiceOnOneThread) {
  for (std::size_t size : {300u, 70000u, 1u}) {
    const std::string raw = sample(size);
    Bytes stored = encoded(GetParam(), raw);
    if (stored.size() == raw.size()) continue;
    const auto back = decompress(stored, raw.size());
    ASSERT_TRUE(back) << back.error().text;
    EXPECT_EQ(decoded_text(*back), raw);
  }
}

TEST_P(EachCodec, RefusesWrongSizeInBlock) {
  const std::string raw = sample(5000);
  for (int delta : {-1, 1}) {
    Bytes stored = encoded(GetParam(), raw);
    const std::size_t claimed = raw.size() + static_cast<std::size_t>(delta);
    stored[6] = std::byte(claimed);
    stored[7] = std::byte(claimed >> 8);
    EXPECT_FALSE(decompress(stored, claimed));
  }
}

TEST_P(EachCodec, RefusesEveryTruncation) {
  const std::string raw = sample(600);
  const Bytes stored = encoded(GetParam(), raw);
  for (std::size_t size = 0; size < stored.size(); ++size) {
    if (size == raw.size()) continue;  // that would be an uncompressed object
    Bytes cut(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(decompress(cut, raw.size())) << size;
    if (size < 9) continue;
    cut[3] = std::byte(size - 9);  // also with a header that has the matching size
    cut[4] = std::byte((size - 9) >> 8);
    const auto back = decompress(cut, raw.size());
    EXPECT_FALSE(back) << size;
  }
}

class EachCheckedCodec : public testing::TestWithParam<const char*> {};

// If the codec has a checksum, flipped bits either make decoding fail or do not change the content.
TEST_P(EachCheckedCodec, NoticesFlippedBits) {
  const std::string raw = sample(400);
  const Bytes stored = encoded(GetParam(), raw);
  for (std::size_t bit = 9 * 8; bit < stored.size() * 8; ++bit) {
    Bytes flipped = stored;
    flipped[bit / 8] ^= std::byte(1 << bit % 8);
    if (const auto back = decompress(flipped, raw.size())) {
      EXPECT_EQ(decoded_text(*back), raw) << bit;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachCodec, testing::Values("zlib", "cs", "lzma", "lz4", "zstd"),
                         [](const auto& test) { return std::string(test.param); });
INSTANTIATE_TEST_SUITE_P(All, EachCheckedCodec, testing::Values("zlib", "lzma", "lz4"),
                         [](const auto& test) { return std::string(test.param); });

TEST(Frame, CopiesWhatIsStoredUncompressed) {
  const std::string raw = sample(100);
  const auto back = decompress(bytes_of(raw), raw.size());
  ASSERT_TRUE(back);
  EXPECT_EQ(decoded_text(*back), raw);
  EXPECT_STREQ(codec_name(bytes_of(raw), raw.size()), "none");
  const auto nothing = decompress({}, 0);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->size(), 0u);
}

TEST(Frame, JoinsBlocksOfDifferentCodecs) {
  std::string raw;
  Bytes stored;
  for (const char* codec : {"zlib", "lzma", "cs", "lz4", "zstd"}) {
    const std::string part = sample(3000 + raw.size() % 77);
    const Bytes more = encoded(codec, part);
    stored.insert(stored.end(), more.begin(), more.end());
    raw += part;
  }
  const auto back = decompress(stored, raw.size());
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(decoded_text(*back), raw);
  EXPECT_FALSE(decompress(stored, raw.size() - 1));
  EXPECT_FALSE(decompress(stored, raw.size() + 1));
}

TEST(Frame, RefusesImpossibleRatio) {
  for (const char* codec : {"zlib", "cs", "lz4"}) {
    Bytes stored = encoded(codec, sample(600));
    for (int i = 6; i < 9; ++i) stored[static_cast<std::size_t>(i)] = std::byte(0xff);
    const auto back = decompress(stored, 0xffffff);
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().kind, ErrorKind::damaged);
    EXPECT_NE(back.error().text.find("cannot come from"), std::string::npos) << back.error().text;
  }
}

TEST(Frame, RefusesUnknownTagAndTrailingBytes) {
  const std::string raw = sample(600);
  Bytes stored = encoded("zlib", raw);
  stored.push_back(std::byte{0});
  EXPECT_FALSE(decompress(stored, raw.size()));
  stored.pop_back();
  stored[0] = std::byte('Q');
  const auto back = decompress(stored, raw.size());
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().text, "compressed block at byte 0: unknown tag 'QL'");
  EXPECT_STREQ(codec_name(stored, raw.size()), "none");
}

TEST(Frame, RefusesHugeClaimOverNothing) {
  Bytes stored;
  for (int i = 0; i < 1000; ++i) {
    const Bytes empty = block("ZS", 1, "", 0xffffff);
    stored.insert(stored.end(), empty.begin(), empty.end());
  }
  EXPECT_FALSE(decompress(stored, 1000ull * 0xffffff));
}

TEST(Frame, RefusesAnEmptyBlockAndNamesItsPlace) {
  Bytes stored = block("ZS", 1, "12345678", 100);
  const Bytes empty = block("ZS", 1, "12345678", 0);
  stored.insert(stored.end(), empty.begin(), empty.end());
  const auto back = decompress(stored, 100);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().text, "compressed block at byte 17: has 0 bytes");
}

TEST(Frame, TellsWhatCanComeFromSoManyBytes) {
  constexpr std::uint64_t kBlock = 0xffffff;
  const std::string zeros(kBlock, '\0');
  const std::uint64_t least = encoded("zstd", zeros).size();
  EXPECT_TRUE(can_hold(least, kBlock));
  EXPECT_TRUE(can_hold(1000 * least, 1000 * kBlock));
  EXPECT_TRUE(can_hold(0, 0));
  EXPECT_TRUE(can_hold(7, 7));
  EXPECT_FALSE(can_hold(7, 8));
  EXPECT_FALSE(can_hold(1000, 1000 * kBlock));
  EXPECT_FALSE(can_hold(UINT32_MAX, UINT64_MAX));
}

}  // namespace
}  // namespace tfile
