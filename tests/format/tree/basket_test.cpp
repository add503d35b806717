// SPDX-License-Identifier: Apache-2.0
#include "tree/record/basket.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "format/tree/basket_image.h"

namespace tfile {
namespace {

using test::BasketImage;
using test::some_bytes;
using Offsets = std::vector<std::int32_t>;

// Entries of 4, 0 and 6 bytes.
BasketImage with_offsets(std::int32_t last_offset) {
  BasketImage image;
  image.entries = 3;
  image.nev_buf_size = 1000;
  image.data = some_bytes(10);
  const std::int32_t k = image.keylen();
  image.tail = {4, k, k + 4, k + 4, last_offset};
  return image;
}

TEST(Basket, HeaderOfBothForms) {
  for (const bool big : {false, true}) {
    BasketImage image;
    image.big = big;
    image.entries = 5;
    image.data = some_bytes(20);
    const auto record = image.record();
    const auto header = read_basket_header(record, record.size());
    ASSERT_TRUE(header) << header.error().text;
    EXPECT_EQ(header->nbytes, record.size());
    EXPECT_EQ(header->objlen, 20u);
    EXPECT_EQ(header->keylen, static_cast<std::uint32_t>(image.keylen()));
    EXPECT_EQ(header->entries, 5);
    EXPECT_EQ(header->nev_buf_size, 4);
    EXPECT_EQ(header->buffer_size, 32000);
    EXPECT_EQ(header->version, 3);
    EXPECT_EQ(header->border(), 20u);
    EXPECT_EQ(header->io_bits, 0);
    EXPECT_EQ(basket_header_size(record), header->keylen);
  }
}

TEST(Basket, HeaderAloneIsEnough) {
  BasketImage image;
  image.entries = 5;
  image.data = some_bytes(20);
  auto record = image.record();
  const std::size_t whole = record.size();
  record.resize(static_cast<std::size_t>(image.keylen()));
  EXPECT_TRUE(read_basket_header(record, whole));
  record.pop_back();
  EXPECT_FALSE(read_basket_header(record, whole));
  EXPECT_EQ(basket_header_size(record), static_cast<std::size_t>(image.keylen()));
  EXPECT_EQ(basket_header_size(std::span(record).first(15)), 0u);
}

TEST(Basket, HeaderContradictions) {
  BasketImage good;
  good.entries = 5;
  good.data = some_bytes(20);
  const auto record = good.record();
  EXPECT_FALSE(read_basket_header(record, record.size() - 1)) << "longer than its place";
  const auto refuses = [](BasketImage image) {
    const auto bytes = image.record();
    const auto header = read_basket_header(bytes, bytes.size());
    ASSERT_FALSE(header);
    EXPECT_EQ(header.error().kind, ErrorKind::damaged);
    EXPECT_FALSE(read_basket(bytes));
  };
  BasketImage image = good;
  image.last = image.keylen() - 1;
  refuses(image);
  image.last = -1;
  refuses(image);
  image.last = image.keylen() + 21;
  refuses(image);
  image = good;
  image.entries = -1;
  refuses(image);
  for (const auto& [at, value] : {std::pair{6, -1}, {6, -2000000000}, {0, -5}, {0, 0}, {0, 40}}) {
    auto bytes = record;
    const auto raw = byte_swap(static_cast<std::uint32_t>(value));
    std::memcpy(bytes.data() + at, &raw, sizeof raw);
    EXPECT_FALSE(read_basket_header(bytes, bytes.size())) << at << " " << value;
  }
  auto short_key = record;
  short_key[14] = std::byte{0};
  short_key[15] = std::byte{20};
  EXPECT_FALSE(read_basket_header(short_key, short_key.size())) << "a key that ends inside its fields";
}

TEST(Basket, UnknownFeatureIsNotGuessedAt) {
  BasketImage image;
  image.io_bits = 2;
  image.data = some_bytes(4);
  const auto bytes = image.record();
  const auto header = read_basket_header(bytes, bytes.size());
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().kind, ErrorKind::unsupported);
}

TEST(Basket, FixedSize) {
  BasketImage image;
  image.entries = 5;
  image.data = some_bytes(20);
  const auto record = image.record();
  const auto basket = read_basket(record);
  ASSERT_TRUE(basket) << basket.error().text;
  EXPECT_FALSE(basket->has_offsets);
  EXPECT_TRUE(basket->offsets.empty());
  EXPECT_FALSE(basket->generated_offsets);
  ASSERT_EQ(basket->bytes.size(), 20u);
  EXPECT_EQ(std::memcmp(basket->bytes.data(), image.data.data(), 20), 0);
}

TEST(Basket, Offsets) {
  // The last one is 0, garbage, or right.
  for (const std::int32_t last : {0, -77, 12345, with_offsets(0).keylen() + 10}) {
    const auto record = with_offsets(last).record();
    const auto basket = read_basket(record);
    ASSERT_TRUE(basket) << basket.error().text;
    EXPECT_TRUE(basket->has_offsets);
    EXPECT_EQ(basket->offsets, (Offsets{0, 4, 4, 10}));
    EXPECT_TRUE(basket->displacement.empty());
  }
}

TEST(Basket, OffsetsOfNoEntries) {
  BasketImage image;
  image.tail = {1, 0};
  const auto record = image.record();
  const auto basket = read_basket(record);
  ASSERT_TRUE(basket) << basket.error().text;
  EXPECT_EQ(basket->offsets, (Offsets{0}));
}

TEST(Basket, TableAsLongAsTheEntries) {
  BasketImage image = with_offsets(0);
  image.tail.pop_back();
  image.tail[0] = 3;
  const auto record = image.record();
  const auto basket = read_basket(record);
  ASSERT_TRUE(basket) << basket.error().text;
  EXPECT_EQ(basket->offsets, (Offsets{0, 4, 4, 10}));
}

TEST(Basket, TableOfAnyNumber) {
  BasketImage image = with_offsets(0);
  image.tail[0] = 3;  // as uproot 3 has it, here for four
  for (const bool is_one : {false, true}) {
    if (is_one) image.entries = 1, image.tail = {3, image.keylen(), 0};
    const auto record = image.record();
    const auto basket = read_basket(record);
    ASSERT_TRUE(basket) << basket.error().text;
    EXPECT_EQ(basket->offsets, is_one ? (Offsets{0, 10}) : (Offsets{0, 4, 4, 10}));
  }
}

TEST(Basket, Displacement) {
  BasketImage image = with_offsets(0);
  const std::int32_t k = image.keylen();
  image.tail.insert(image.tail.end(), {4, k + 100, k + 104, k + 104, 0});
  const auto record = image.record();
  const auto basket = read_basket(record);
  ASSERT_TRUE(basket) << basket.error().text;
  EXPECT_EQ(basket->offsets, (Offsets{0, 4, 4, 10}));
  EXPECT_EQ(basket->displacement, (Offsets{-100, -100, -100}));
}

TEST(Basket, SizesInsteadOfOffsets) {
  BasketImage image = with_offsets(0);
  image.io_bits = 1;
  image.tail = {4, 0, 4, 0, 99};
  const auto record = image.record();
  const auto basket = read_basket(record);
  ASSERT_TRUE(basket) << basket.error().text;
  EXPECT_EQ(basket->header.io_bits, 1);
  EXPECT_EQ(basket->header.nev_buf_size, 1000);
  EXPECT_EQ(basket->offsets, (Offsets{0, 4, 4, 10}));
}

TEST(Basket, GeneratedOffsets) {
  BasketImage image;
  image.io_bits = 1;
  image.flag = 80;
  image.entries = 3;
  image.data = some_bytes(12);
  const auto record = image.record();
  const auto basket = read_basket(record);
  ASSERT_TRUE(basket) << basket.error().text;
  EXPECT_TRUE(basket->generated_offsets);
  EXPECT_FALSE(basket->has_offsets);
}

TEST(Basket, DamagedTables) {
  const std::int32_t k = with_offsets(0).keylen();
  for (const std::vector<std::int32_t>& tail :
       {std::vector<std::int32_t>{4, k, k + 4, k + 3, 0},  // decreases
        {4, k - 1, k + 4, k + 4, 0},                       // before the data
        {4, k, k + 4, k + 11, 0},                          // after the data
        {2, k, k + 4, k + 4, 0},                           // too few
        {2, k, k + 4},                                     // too few, and nothing follows
        {-1, k, k + 4, k + 4, 0},                          // a negative count
        {5, k, k + 4, k + 4, 0},                           // more than exist
        {4, k, k + 4, k + 4, 0, 7},                        // something follows
        {4, k, k + 4, k + 4, 0, 4, k, k, k, 0, 0}}) {      // something follows the displacements
    BasketImage image = with_offsets(0);
    image.tail = tail;
    const auto record = image.record();
    const auto basket = read_basket(record);
    ASSERT_FALSE(basket) << testing::PrintToString(tail);
    EXPECT_EQ(basket.error().kind, ErrorKind::damaged);
  }
}

TEST(Basket, SizesThatOverflow) {
  BasketImage image = with_offsets(0);
  image.io_bits = 1;
  for (const std::vector<std::int32_t>& tail :
       {std::vector<std::int32_t>{4, 0, INT32_MAX, INT32_MAX, 0}, {4, 0, -1, 1, 0}, {4, 0, 4, 7, 0}}) {
    image.tail = tail;
    EXPECT_FALSE(read_basket(image.record())) << testing::PrintToString(tail);
  }
}

TEST(Basket, Compressed) {
  BasketImage image;
  image.entries = 500;
  image.data.resize(2000, std::byte{3});
  const auto payload = image.payload();
  std::vector<std::byte> packed(3000);
  uLongf size = packed.size();
  ASSERT_EQ(compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(payload.data()),
                      payload.size(), 6),
            Z_OK);
  test::Bytes out;
  image.put_header(out, static_cast<std::int32_t>(image.keylen() + 9 + size), 2000);
  out.put_text("ZL\x08");
  for (const std::size_t n : {std::size_t{size}, payload.size()}) {
    for (int shift = 0; shift < 24; shift += 8) out.put(static_cast<std::uint8_t>(n >> shift));
  }
  out.all().insert(out.all().end(), packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size));
  const auto basket = read_basket(out.all());
  ASSERT_TRUE(basket) << basket.error().text;
  EXPECT_EQ(std::memcmp(basket->bytes.data(), payload.data(), payload.size()), 0);
}

TEST(Basket, EveryPrefixAndFlippedByteIsSurvived) {
  const auto record = with_offsets(0).record();
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_FALSE(read_basket(std::span(record).first(size))) << size;
  }
  for (std::size_t i = 0; i < record.size(); ++i) {
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      auto flipped = record;
      flipped[i] = static_cast<std::byte>(value);
      const auto basket = read_basket(flipped);
      if (!basket || !basket->has_offsets) continue;
      EXPECT_TRUE(std::is_sorted(basket->offsets.begin(), basket->offsets.end()));
      EXPECT_EQ(basket->offsets.back(), static_cast<std::int32_t>(basket->header.border()));
    }
  }
}

}  // namespace
}  // namespace tfile
