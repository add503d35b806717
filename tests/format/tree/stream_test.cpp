// SPDX-License-Identifier: Apache-2.0
#include "tree/stream.h"

#include <gtest/gtest.h>

namespace tfile {
namespace {

BasketData data_of(std::size_t size, std::int64_t entries) {
  BasketData data;
  data.payload = Buffer(size);
  std::fill_n(data.payload.data(), size, std::byte{1});
  data.size = size;
  data.entries = entries;
  return data;
}

// The count of items is told from the entries, without a look at the basket: data of another size would leave a hole in
// the column, or overlap the next basket.
TEST(Stream, FlatDataOfAnotherSizeThanTheEntriesAreDamage) {
  Stream stream;
  stream.form = Stream::Form::flat;
  stream.number_size = stream.item_size = 4;
  stream.lengths = {Stream::Length::entries};
  const std::vector<std::int64_t> first{0};
  EXPECT_TRUE(decode_basket(stream, data_of(28, 7), {}, first));
  for (const std::size_t size : std::vector<std::size_t>{0, 24, 27, 44}) {
    const auto chunk = decode_basket(stream, data_of(size, 7), {}, first);
    ASSERT_FALSE(chunk) << size;
    EXPECT_EQ(chunk.error().kind, ErrorKind::damaged);
  }
}

TEST(Stream, JaggedDataNeedAnOffsetForEachEntry) {
  Stream stream;
  stream.form = Stream::Form::jagged;
  stream.number_size = stream.item_size = 4;
  stream.lengths = {Stream::Length::entries_and_one, Stream::Length::unknown};
  const std::vector<std::int64_t> first{0, 0};
  BasketData whole = data_of(28, 3);
  whole.offsets = {0, 4, 20, 28};
  const auto chunk = decode_basket(stream, std::move(whole), {}, first);
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->arrays[0].size(), 4 * sizeof(std::int64_t));
  for (const std::size_t count : std::vector<std::size_t>{1, 3, 5}) {
    BasketData data = data_of(28, 3);
    data.offsets.assign(count, 28);
    EXPECT_FALSE(decode_basket(stream, std::move(data), {}, first)) << count;
  }
}

}  // namespace
}  // namespace tfile
