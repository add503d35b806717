// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "format/tree/embedded_image.h"
#include "tree/record/record_reader.h"

namespace tfile {
namespace {

using test::BasketImage;
using test::embedded;
using Offsets = std::vector<std::int32_t>;

EmbeddedBasket read_embedded(const std::vector<std::byte>& bytes) {
  Cursor in(bytes);
  EmbeddedBasket basket = read_embedded_basket(in);
  EXPECT_FALSE(in.failed()) << in.error().text;
  EXPECT_EQ(in.left(), 0u);
  return basket;
}

bool fails(const std::vector<std::byte>& bytes) {
  Cursor in(bytes);
  read_embedded_basket(in);
  return in.failed();
}

BasketImage five_floats() {
  BasketImage image;
  image.big = false;
  image.version = 2;
  image.entries = 5;
  image.data = test::some_bytes(20);
  image.flag = 12;
  return image;
}

BasketImage three_strings() {
  BasketImage image = five_floats();
  image.entries = 3;
  image.nev_buf_size = 1000;
  image.flag = 11;
  const std::int32_t k = image.keylen();
  image.tail = {k, k + 5, k + 5};
  return image;
}

TEST(EmbeddedBasket, FixedSize) {
  const EmbeddedBasket basket = read_embedded(embedded(five_floats()));
  EXPECT_EQ(basket.entries, 5);
  EXPECT_EQ(basket.entry_size, 4);
  EXPECT_EQ(basket.keylen, static_cast<std::uint32_t>(five_floats().keylen()));
  EXPECT_EQ(basket.data, five_floats().data);
  EXPECT_TRUE(basket.offsets.empty());
  EXPECT_FALSE(basket.generated_offsets);
}

TEST(EmbeddedBasket, Offsets) {
  const EmbeddedBasket basket = read_embedded(embedded(three_strings()));
  EXPECT_EQ(basket.entries, 3);
  EXPECT_EQ(basket.offsets, (Offsets{0, 5, 5, 20}));
  EXPECT_EQ(basket.data.size(), 20u);
}

TEST(EmbeddedBasket, DisplacedAndMaskedOffsets) {
  BasketImage displaced = three_strings();
  displaced.flag = 51;
  EXPECT_EQ(read_embedded(embedded(displaced, {1, 2, 3})).offsets, (Offsets{0, 5, 5, 20}));
  BasketImage masked = three_strings();
  masked.flag = 31;
  masked.tail[1] |= 0x05000000;
  EXPECT_EQ(read_embedded(embedded(masked)).offsets, (Offsets{0, 5, 5, 20}));
}

TEST(EmbeddedBasket, GeneratedOffsets) {
  BasketImage image = three_strings();
  image.io_bits = 1;
  image.flag = 91;
  image.tail.clear();
  const EmbeddedBasket basket = read_embedded(embedded(image));
  EXPECT_TRUE(basket.generated_offsets);
  EXPECT_TRUE(basket.offsets.empty());
  EXPECT_EQ(basket.data.size(), 20u);
}

TEST(EmbeddedBasket, FirstVersionTellsTheSizeOfItsBuffer) {
  BasketImage image = five_floats();
  image.version = 1;
  EXPECT_EQ(read_embedded(embedded(image)).data, image.data);
}

TEST(EmbeddedBasket, HeaderAlone) {
  for (const int flag : {0, 2}) {
    BasketImage image = five_floats();
    image.flag = static_cast<std::uint8_t>(flag);
    test::Bytes out;
    image.put_header(out, 0, 0);
    const EmbeddedBasket basket = read_embedded(out.all());
    EXPECT_EQ(basket.entries, 0);
    EXPECT_TRUE(basket.data.empty());
  }
}

TEST(EmbeddedBasket, Damage) {
  BasketImage image = three_strings();
  image.tail[1] = image.keylen() + 21;
  EXPECT_TRUE(fails(embedded(image))) << "beyond the data";
  image = three_strings();
  image.tail[2] = image.keylen() + 4;
  EXPECT_TRUE(fails(embedded(image))) << "falling";
  image = three_strings();
  image.tail.pop_back();
  EXPECT_TRUE(fails(embedded(image))) << "fewer offsets than entries";
  image = five_floats();
  image.last = image.keylen() - 1;
  EXPECT_TRUE(fails(embedded(image)));
  image.last = image.keylen() + 21;
  EXPECT_TRUE(fails(embedded(image)));
  image = five_floats();
  image.entries = -5;
  EXPECT_TRUE(fails(embedded(image)));
  const auto whole = embedded(three_strings());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(fails({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)})) << size;
  }
}

// No entries without offsets may remain: the array for their ends would be allocated but not filled.
TEST(EmbeddedBasket, NothingIsLeftOfADamagedOne) {
  BasketImage image = three_strings();
  image.tail[2] = image.keylen() + 1000;
  const std::vector<std::byte> bytes = embedded(image);
  Cursor in(bytes);
  const EmbeddedBasket basket = read_embedded_basket(in);
  EXPECT_TRUE(in.failed());
  EXPECT_EQ(basket.entries, 0);
  EXPECT_TRUE(basket.offsets.empty());
}

}  // namespace
}  // namespace tfile
