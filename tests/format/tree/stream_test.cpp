// SPDX-License-Identifier: Apache-2.0
#include "tree/read/stream.h"

#include <gtest/gtest.h>

#include <random>

#include "format/streamer/entries_image.h"
#include "format/streamer/program_maker.h"

namespace tfile {
namespace {

using test::array_of;
using test::EntriesImage;
using test::ProgramMaker;
using Ends = std::vector<std::int64_t>;
using FieldKind = Op::Kind;
using Length = Stream::Length;

BasketData data_of(std::size_t size, std::int64_t entries) {
  BasketData data;
  data.payload = Buffer(size);
  std::fill_n(data.payload.data(), size, std::byte{1});
  data.size = size;
  data.entries = entries;
  return data;
}

// The number of items follows from the entries, without a look at the basket. Data of another size would leave a hole
// in the column, or overlap the next basket.
TEST(Stream, FlatDataOfAnotherSizeThanTheEntriesAreDamage) {
  Stream stream;
  stream.kind = Stream::Kind::flat;
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
  stream.kind = Stream::Kind::jagged;
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

Stream flat(std::uint32_t number_size, std::uint32_t item_size, Length length = Length::entries) {
  Stream stream;
  stream.kind = Stream::Kind::flat;
  stream.number_size = number_size;
  stream.item_size = item_size;
  stream.lengths = {length};
  return stream;
}

Stream jagged(std::uint32_t number_size, std::uint32_t item_size) {
  Stream stream = flat(number_size, item_size);
  stream.kind = Stream::Kind::jagged;
  stream.lengths = {Length::entries_and_one, Length::unknown};
  return stream;
}

BasketData lists_in(std::vector<std::int32_t> item_ends, std::int32_t item_size) {
  BasketData data =
      data_of(static_cast<std::size_t>(item_ends.back() * item_size), static_cast<std::int64_t>(item_ends.size()) - 1);
  for (const std::int32_t end : item_ends) data.offsets.push_back(end * item_size);
  return data;
}

TEST(Stream, BranchesWithTheSameListsShareTheirEnds) {
  SharedEnds shared;
  for (const Ends& first : {Ends{0, 0}, Ends{8, 1000}}) {
    const auto decode = [&](std::vector<std::int32_t> item_ends, std::uint32_t item_size) {
      auto data = lists_in(std::move(item_ends), static_cast<std::int32_t>(item_size));
      return *decode_basket(jagged(item_size, item_size), std::move(data), {}, first, &shared);
    };
    auto one = decode({0, 2, 2, 5}, 4);
    const auto two = decode({0, 2, 2, 5}, 8), three = decode({0, 2, 2, 5}, 1);
    const auto other = decode({0, 2, 3, 5}, 4), longer = decode({0, 2, 2, 5, 6}, 4);
    EXPECT_EQ(one.arrays[0].data(), two.arrays[0].data());
    EXPECT_EQ(one.arrays[0].data(), three.arrays[0].data());
    const auto alone = decode_basket(jagged(4, 4), lists_in({0, 2, 3, 5}, 4), {}, first);
    EXPECT_EQ(array_of<std::int64_t>(other, 0), array_of<std::int64_t>(*alone, 0));
    EXPECT_NE(other.arrays[0].data(), one.arrays[0].data());
    EXPECT_EQ(longer.arrays[0].size(), one.arrays[0].size() + sizeof(std::int64_t));
    // The array lives as long as a chunk that uses it.
    const std::byte* const was = one.arrays[0].data();
    one = {};
    EXPECT_EQ(two.arrays[0].data(), was);
    EXPECT_EQ(array_of<std::int64_t>(two, 0).back(), first[1] + 5);
  }
}

TEST(Stream, AnEndWithinAnItemIsDamageWhateverOthersShare) {
  SharedEnds shared;
  const Ends first{0, 0};
  const auto whole = decode_basket(jagged(4, 4), lists_in({0, 2, 5}, 4), {}, first, &shared);
  ASSERT_TRUE(whole);
  BasketData torn = lists_in({0, 2, 5}, 4);
  torn.offsets[1] += 2;
  EXPECT_FALSE(decode_basket(jagged(4, 4), std::move(torn), {}, first, &shared));
  BasketData fewer = lists_in({0, 2, 5}, 4);
  fewer.offsets.pop_back();
  EXPECT_FALSE(decode_basket(jagged(4, 4), std::move(fewer), {}, first, &shared));
}

TEST(SharedEnds, ForgetsWhatNoChunkHas) {
  SharedEnds shared;
  const auto kept = std::make_shared<const Buffer>(8);
  shared.keep({0, 1, 0}, kept);
  for (std::int64_t i = 1; i < 5000; ++i) shared.keep({i, 1, 0}, std::make_shared<const Buffer>(8));
  EXPECT_EQ(shared.at({0, 1, 0}), kept);
  EXPECT_EQ(shared.at({17, 1, 0}), nullptr);
}

Stream by_program(Program program, std::vector<Length> lengths) {
  Stream stream;
  stream.kind = Stream::Kind::program;
  stream.program = std::make_unique<const Program>(std::move(program));
  stream.lengths = std::move(lengths);
  return stream;
}

BasketData basket(const EntriesImage& image, bool with_offsets = true) {
  BasketData data = data_of(image.size(), image.with_offsets().count);
  std::copy(image.all().begin(), image.all().end(), data.payload.data());
  if (with_offsets) data.offsets = image.offsets();
  return data;
}

std::vector<std::vector<std::byte>> arrays(const Result<Chunk>& chunk) {
  EXPECT_TRUE(chunk) << chunk.error().text;
  std::vector<std::vector<std::byte>> copies;
  if (!chunk) return copies;
  for (const auto array : chunk->arrays) copies.emplace_back(array.begin(), array.end());
  return copies;
}

// Random bytes: entries with 0 to 4 items of `item_size` bytes if `lists`, else with one item.
EntriesImage random_entries(std::mt19937& random, bool lists, std::size_t item_size) {
  EntriesImage image;
  for (int entry = 0; entry < 20; ++entry) {
    for (std::size_t n = (lists ? random() % 5 : 1) * item_size; n > 0; --n)
      image.put(static_cast<std::uint8_t>(random() % 256));
    image.end_entry();
  }
  return image;
}

// A program that only copies numbers is run as a copy of the data; the result must be the same.
TEST(Stream, FlatDataEqualWhatTheProgramGives) {
  std::mt19937 random(1);
  for (const std::uint8_t size : std::vector<std::uint8_t>{1, 2, 4, 8}) {
    for (const std::uint32_t count : {1u, 3u}) {
      for (const bool boolean : {false, true}) {
        if (boolean && size != 1) continue;
        ProgramMaker maker;
        const Op numbers = maker.numbers(size, count);
        if (boolean) maker.program().slots[0].kind = Slot::Kind::boolean;
        const Stream slow = by_program(maker.make({numbers}), {Length::entries});
        Stream fast = flat(size, size * count);
        fast.is_boolean = boolean;
        const EntriesImage image = random_entries(random, false, std::size_t{size} * count);
        const Ends first{100};
        const auto expected = arrays(decode_basket(slow, basket(image), {}, first));
        EXPECT_EQ(arrays(decode_basket(fast, basket(image), {}, first)), expected);
        BasketData outside = basket(image);
        outside.payload = Buffer();
        outside.outside = image.all();
        EXPECT_EQ(arrays(decode_basket(fast, std::move(outside), {}, first)), expected);
      }
    }
  }
}

TEST(Stream, JaggedDataEqualWhatTheProgramGives) {
  std::mt19937 random(2);
  for (const std::uint8_t size : std::vector<std::uint8_t>{1, 2, 4, 8}) {
    for (const std::uint32_t count : {1u, 2u}) {
      ProgramMaker maker;
      Op rest = maker.list(FieldKind::rest);
      Op numbers = maker.numbers(size, count);
      rest.block = maker.block({numbers});
      const Stream slow = by_program(maker.make({rest}), {Length::entries_and_one, Length::unknown, Length::unknown});
      const Stream fast = jagged(size, size * count);
      const EntriesImage image = random_entries(random, true, std::size_t{size} * count);
      for (const std::int64_t items_before : {0, 7}) {
        const std::int64_t ends_before = items_before == 0 ? 0 : 5;
        const auto expected =
            arrays(decode_basket(slow, basket(image), {}, Ends{ends_before, items_before, items_before}));
        const auto got = arrays(decode_basket(fast, basket(image), {}, Ends{ends_before, items_before}));
        ASSERT_EQ(got.size(), 2u);
        EXPECT_EQ(got[0], expected[0]);
        EXPECT_EQ(got[1], expected[2]);
        const auto slow_count = count_by_decoding(slow, basket(image), items_before == 0);
        const auto fast_items = items_by_size(fast, image.size(), 20, items_before == 0);
        ASSERT_TRUE(slow_count && fast_items);
        EXPECT_EQ((*fast_items)[0], slow_count->items[0]);
        EXPECT_EQ((*fast_items)[1], slow_count->items[2]);
        EXPECT_EQ(got[0].size(), static_cast<std::size_t>((*fast_items)[0]) * 8);
        EXPECT_EQ(got[1].size(), static_cast<std::size_t>((*fast_items)[1]) * fast.item_size);
      }
    }
  }
}

TEST(Stream, OffsetsFromACounter) {
  const Stream stream = jagged(4, 4);
  const Ends first{0, 0};
  const auto chunk = decode_basket(stream, data_of(16, 3), Ends{1, 0, 3}, first);
  ASSERT_TRUE(chunk) << chunk.error().text;
  EXPECT_EQ(array_of<std::int64_t>(*chunk, 0), (Ends{0, 1, 1, 4}));
  for (const Ends& counts : {Ends{1, 0, 2}, Ends{1, 0, 4}, Ends{5, 0, -1}, Ends{-1, 2, 3}, Ends{4}, Ends{1, 0, 3, 0},
                             Ends{1ll << 62, 0, 0}}) {
    const auto refused = decode_basket(stream, data_of(16, 3), counts, first);
    ASSERT_FALSE(refused) << counts.size();
    EXPECT_EQ(refused.error().kind, ErrorKind::damaged);
  }
}

TEST(Stream, OffsetsThatACounterContradictsAreNamed) {
  const Ends first{0, 0};
  const auto refused = [&](const Ends& counts) {
    return decode_basket(jagged(4, 4), data_of(16, 3), counts, first).error().text;
  };
  EXPECT_EQ(refused({1, 0}), "basket: its counter covers 2 entries, the basket holds 3");
  EXPECT_EQ(refused({1, 0, 4}), "basket: counter of entry 2 is 4, with 3 items left");
  EXPECT_EQ(refused({1, 0, 2}), "basket: its counters add up to 3 items, the data has 4");
  EXPECT_EQ(refused({}), "basket: 16 bytes for 3 entries, without offsets");
  BasketData torn = data_of(16, 2);
  torn.offsets = {0, 6, 16};
  EXPECT_EQ(decode_basket(jagged(4, 4), std::move(torn), {}, first).error().text,
            "basket: entry 0 ends at byte 6, not a multiple of its items of 4 bytes");
}

TEST(Stream, PackedItemsByACounter) {
  Stream stream = jagged(1, 1);
  stream.packed_item_size = 3;
  BasketData data = data_of(9, 3);
  ASSERT_TRUE(offsets_from_counts(stream, data, Ends{2, 0, 1}));
  EXPECT_EQ(data.offsets, (std::vector<std::int32_t>{0, 6, 6, 9}));
  for (const Ends& counts : {Ends{2, 0, 0}, Ends{2, 0, 2}, Ends{-1, 3, 1}}) {
    BasketData other = data_of(9, 3);
    EXPECT_FALSE(offsets_from_counts(stream, other, counts));
  }
}

TEST(Stream, WithoutOffsetsEntriesHaveOneSize) {
  const Stream stream = jagged(4, 4);
  const auto chunk = decode_basket(stream, data_of(24, 3), {}, Ends{0, 0});
  ASSERT_TRUE(chunk);
  EXPECT_EQ(array_of<std::int64_t>(*chunk, 0), (Ends{0, 2, 4, 6}));
  EXPECT_FALSE(decode_basket(stream, data_of(28, 3), {}, Ends{0, 0}));
}

TEST(Stream, DataThatAreNoWholeNumberOfItems) {
  EXPECT_FALSE(decode_basket(jagged(4, 12), data_of(16, 1), {}, Ends{0, 0}));
  EXPECT_FALSE(items_by_size(jagged(4, 12), 16, 1, true));
  BasketData uneven = data_of(8, 2);
  uneven.offsets = {0, 3, 8};
  EXPECT_FALSE(decode_basket(jagged(4, 4), std::move(uneven), {}, Ends{0, 0}));
}

TEST(Stream, NoEntries) {
  const auto chunk = decode_basket(jagged(4, 4), data_of(0, 0), {}, Ends{0, 0});
  ASSERT_TRUE(chunk);
  EXPECT_EQ(array_of<std::int64_t>(*chunk, 0), (Ends{0}));
  EXPECT_TRUE(chunk->arrays[1].empty());
}

TEST(Stream, RawEntriesAreTheirBytes) {
  Stream stream = jagged(1, 1);
  stream.kind = Stream::Kind::raw;
  EntriesImage image;
  image.put_text("ab");
  image.end_entry();
  image.end_entry();
  image.put_text("c");
  image.end_entry();
  const auto chunk = decode_basket(stream, basket(image), {}, Ends{0, 0});
  ASSERT_TRUE(chunk);
  EXPECT_EQ(array_of<std::int64_t>(*chunk, 0), (Ends{0, 2, 2, 3}));
  EXPECT_EQ(test::text_of(*chunk, 1), "abc");
}

// A member of a split collection without a header has nothing but items: entries do not matter.
TEST(Stream, ItemsAloneNeedNoOffsets) {
  ProgramMaker maker;
  Op rest{.kind = FieldKind::rest, .with_slot = false};
  rest.block = maker.block({maker.string()});
  maker.program().needs_entry_ends = maker.program().entry_is_items = true;
  const Stream stream = by_program(maker.make({rest}), {Length::unknown, Length::unknown});
  EntriesImage image;
  for (const char* text : {"a", "bc", "d"}) {
    image.put_string(text);
    if (text[0] != 'a') image.end_entry();
  }
  const auto expected = arrays(decode_basket(stream, basket(image), {}, Ends{0, 0}));
  EXPECT_EQ(arrays(decode_basket(stream, basket(image, false), {}, Ends{0, 0})), expected);
  const auto counted = count_by_decoding(stream, basket(image, false), true);
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->items, (Ends{4, 4}));
}

TEST(Stream, KnownLengthsNeedNoReading) {
  ProgramMaker maker;
  const Op number = maker.numbers(4), text = maker.string();
  const Program program = maker.make({number, text});
  Stream known = by_program(program, {Length::entries, Length::entries_and_one, Length::unknown});
  EXPECT_FALSE(size_gives_items(known));
  known.lengths.pop_back();
  EXPECT_TRUE(size_gives_items(known));
  EXPECT_EQ(*items_by_size(known, 0, 5, true), (Ends{5, 6}));
  EXPECT_EQ(*items_by_size(known, 0, 5, false), (Ends{5, 5}));
}

TEST(Stream, ATrialTellsWhetherEntriesFollow) {
  ProgramMaker maker;
  Op object{.kind = FieldKind::object};
  object.block = maker.block({maker.numbers(4)});
  const Stream stream = by_program(maker.make({object}), {Length::entries});
  EntriesImage image;
  const std::size_t at = image.open(1);
  image.put(std::int32_t{1});
  image.close(at);
  image.end_entry();
  BasketData good = basket(image);
  EXPECT_TRUE(entries_follow_program(stream, good));
  image.patch(at, std::uint32_t{0x40000007});
  BasketData bad = basket(image);
  EXPECT_FALSE(entries_follow_program(stream, bad));
}

}  // namespace
}  // namespace tfile
