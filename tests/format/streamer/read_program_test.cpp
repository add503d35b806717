// SPDX-License-Identifier: Apache-2.0
#include "streamer/layout/read_program.h"

#include <gtest/gtest.h>

#include "format/streamer/entries_image.h"
#include "format/streamer/program_maker.h"

namespace tfile {
namespace {

using test::array_of;
using test::EntriesImage;
using test::expect_damaged;
using test::ProgramMaker;
using test::run_whole;
using test::text_of;
using Ends = std::vector<std::int64_t>;
using Ints = std::vector<std::int32_t>;
using Kind = Op::Kind;

constexpr std::uint16_t kMemberWiseBit = 0x4000;

void put_ints(EntriesImage& image, const Ints& values) {
  for (const std::int32_t value : values) image.put(value);
}

TEST(ReadProgram, NumbersAndArraysOfThemAreSwapped) {
  ProgramMaker maker;
  const Op one = maker.numbers(4), three = maker.numbers(2, 3);
  const Program program = maker.make({one, three});
  EntriesImage image;
  for (int entry = 0; entry < 2; ++entry) {
    image.put(std::int32_t{-5 + entry});
    for (const int value : {1, 2, 3}) image.put(static_cast<std::int16_t>(value * 256 + entry));
    image.end_entry();
  }
  for (const Entries& entries : {image.with_offsets(), image.without_offsets()}) {
    const Chunk chunk = run_whole(program, entries);
    EXPECT_EQ(array_of<std::int32_t>(chunk, 0), (Ints{-5, -4}));
    EXPECT_EQ(array_of<std::int16_t>(chunk, 1), (std::vector<std::int16_t>{256, 512, 768, 257, 513, 769}));
  }
}

TEST(ReadProgram, BooleansAreZeroOrOne) {
  ProgramMaker maker;
  const Program program = maker.make({maker.booleans()});
  EntriesImage image;
  for (const int value : {0, 1, 2, 255}) {
    image.put(static_cast<std::uint8_t>(value));
    image.end_entry();
  }
  EXPECT_EQ(array_of<std::uint8_t>(run_whole(program, image.with_offsets()), 0),
            (std::vector<std::uint8_t>{0, 1, 1, 1}));
}

TEST(ReadProgram, PackedNumbersAreUnpacked) {
  ProgramMaker maker;
  const Op wide = maker.packed(parse_packing("[0,10,10]", true)), narrow = maker.packed(parse_packing("", false));
  const Program program = maker.make({wide, narrow});
  EntriesImage image;
  image.put(std::uint32_t{512});
  image.put(std::uint8_t{127});
  image.put(std::uint16_t{1 << 11});
  image.end_entry();
  const Chunk chunk = run_whole(program, image.with_offsets());
  EXPECT_EQ(array_of<double>(chunk, 0), (std::vector<double>{5}));
  EXPECT_EQ(array_of<float>(chunk, 1), (std::vector<float>{1.5}));
}

TEST(ReadProgram, StringsShortLongAndEmpty) {
  ProgramMaker maker;
  const Program program = maker.make({maker.string()});
  const std::string long_text(300, 'x');
  EntriesImage image;
  for (const std::string& text : {std::string("ab"), std::string(), long_text, std::string("c")}) {
    image.put_string(text);
    image.end_entry();
  }
  const Chunk chunk = run_whole(program, image.with_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, 0), (Ends{0, 2, 2, 302, 303}));
  EXPECT_EQ(text_of(chunk, 1), "ab" + long_text + "c");
}

TEST(ReadProgram, StringsLongerThanTheirEntryAreDamage) {
  ProgramMaker maker;
  const Program program = maker.make({maker.string()});
  EntriesImage image;
  image.put(std::uint8_t{3});
  image.put_text("ab");
  image.end_entry();
  image.put_text("c");
  image.end_entry();
  expect_damaged(program, image.with_offsets());
  EntriesImage negative;
  negative.put(std::uint8_t{255});
  negative.put(std::int32_t{-1});
  negative.end_entry();
  expect_damaged(program, negative.with_offsets());
}

// For an empty string, a leaf of characters has no bytes; others have a length of 0.
TEST(ReadProgram, LeafStringsMayHaveNoBytes) {
  ProgramMaker maker;
  const Program program = maker.make({maker.string(Kind::leaf_string)});
  EntriesImage image;
  image.end_entry();
  image.put_string("a");
  image.end_entry();
  image.put_string("");
  image.end_entry();
  image.end_entry();
  const Chunk chunk = run_whole(program, image.with_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, 0), (Ends{0, 0, 1, 1, 1}));
  EXPECT_EQ(text_of(chunk, 1), "a");
}

TEST(ReadProgram, LongStrings) {
  ProgramMaker maker;
  const Program program = maker.make({maker.string(Kind::long_string)});
  EntriesImage image;
  image.put(std::int32_t{3});
  image.put_text("abc");
  image.end_entry();
  image.put(std::int32_t{0});
  image.end_entry();
  EXPECT_EQ(array_of<std::int64_t>(run_whole(program, image.with_offsets()), 0), (Ends{0, 3, 3}));
  for (const std::int32_t length : {-1, 4, INT32_MAX}) {
    EntriesImage bad;
    bad.put(length);
    bad.put_text("abc");
    bad.end_entry();
    expect_damaged(program, bad.with_offsets());
  }
}

TEST(ReadProgram, BytesAndNamesThatArePassedOver) {
  ProgramMaker maker;
  const Program program =
      maker.make({{.kind = Kind::skip, .count = 3}, {.kind = Kind::skip_c_string}, maker.numbers(1)});
  EntriesImage image;
  image.put_text("abcTClonesArray");
  image.put(std::uint8_t{0});
  image.put(std::uint8_t{9});
  image.end_entry();
  EXPECT_EQ(array_of<std::uint8_t>(run_whole(program, image.with_offsets()), 0), (std::vector<std::uint8_t>{9}));
  EntriesImage endless;
  endless.put_text("abcTClonesArray");
  endless.end_entry();
  expect_damaged(program, endless.with_offsets());
}

TEST(ReadProgram, FramesOfEachForm) {
  ProgramMaker maker;
  const Program program = maker.make({{.kind = Kind::frame}, maker.numbers(1)});
  EntriesImage image;
  const std::size_t at = image.open(3);  // byte count and version
  image.put(std::uint8_t{1});
  image.close(at);
  image.end_entry();
  image.put(std::uint16_t{3});  // the version alone
  image.put(std::uint8_t{2});
  image.end_entry();
  const std::size_t foreign = image.open(0);  // a class without a version: its checksum
  image.put(std::uint32_t{0x12345678});
  image.put(std::uint8_t{3});
  image.close(foreign);
  image.end_entry();
  EXPECT_EQ(array_of<std::uint8_t>(run_whole(program, image.with_offsets()), 0), (std::vector<std::uint8_t>{1, 2, 3}));
}

TEST(ReadProgram, AnObjectEndsWhereItsHeaderSays) {
  ProgramMaker maker;
  const Op member = maker.numbers(4);
  Op object{.kind = Kind::object};
  object.block = maker.block({member});
  const Program program = maker.make({object});
  for (const std::uint32_t length : {5u, 6u, 7u}) {
    EntriesImage image;
    image.put(0x40000000u | length);
    image.put(std::uint16_t{1});
    image.put(std::int32_t{77});
    image.end_entry();
    if (length == 6) {
      EXPECT_EQ(array_of<std::int32_t>(run_whole(program, image.with_offsets()), 0), (Ints{77}));
    } else {
      expect_damaged(program, image.with_offsets());
    }
  }
}

TEST(ReadProgram, AnObjectWithoutAByteCount) {
  ProgramMaker maker;
  const Op member = maker.numbers(4);
  Op object{.kind = Kind::object};
  object.block = maker.block({member});
  const Program program = maker.make({object});
  EntriesImage image;
  image.put(std::uint16_t{2});
  image.put(std::int32_t{77});
  image.end_entry();
  EXPECT_EQ(array_of<std::int32_t>(run_whole(program, image.with_offsets()), 0), (Ints{77}));
}

// In a referenced object, a process id follows the bits: two bytes that are not data.
TEST(ReadProgram, ReferencedObjectsAreTwoBytesLonger) {
  ProgramMaker maker;
  const std::uint32_t slot = maker.slot({Slot::Kind::big_endian, 4, 4});
  maker.slot({Slot::Kind::big_endian, 4, 4});
  const Program program = maker.make({{.kind = Kind::tobject, .slot = slot}, maker.numbers(1)});
  EntriesImage image;
  for (const bool referenced : {false, true, false}) {
    image.tobject(referenced);
    image.put(std::uint8_t{5});
    image.end_entry();
  }
  for (const Entries& entries : {image.with_offsets(), image.without_offsets()}) {
    const Chunk chunk = run_whole(program, entries);
    EXPECT_EQ(array_of<std::uint32_t>(chunk, 0), (std::vector<std::uint32_t>{0, 0, 0}));
    EXPECT_EQ(array_of<std::uint32_t>(chunk, 1), (std::vector<std::uint32_t>{0x03000000, 0x03000010, 0x03000000}));
    EXPECT_EQ(array_of<std::uint8_t>(chunk, 2), (std::vector<std::uint8_t>{5, 5, 5}));
  }
}

TEST(ReadProgram, BitsOfASplitObject) {
  ProgramMaker maker;
  Op bits = maker.numbers(4);
  bits.kind = Kind::bits;
  Op rest{.kind = Kind::rest, .with_slot = false};
  rest.block = maker.block({bits});
  const Program program = maker.make({rest});
  EntriesImage image;
  image.put(std::uint32_t{8});
  image.put(std::uint32_t{0x18});
  image.put(std::uint16_t{1});
  image.put(std::uint32_t{0});
  image.end_entry();
  EXPECT_EQ(array_of<std::uint32_t>(run_whole(program, image.with_offsets()), 0),
            (std::vector<std::uint32_t>{8, 0x18, 0}));
}

TEST(ReadProgram, ListsOfLists) {
  ProgramMaker maker;
  Op outer = maker.list(Kind::list), inner = maker.list(Kind::list);
  inner.block = maker.block({maker.numbers(4)});
  outer.block = maker.block({inner});
  const Program program = maker.make({outer});
  EntriesImage image;
  for (const std::vector<Ints>& entry : {std::vector<Ints>{{1, 2}, {}, {3}}, {}, {{4}}}) {
    image.put(static_cast<std::uint32_t>(entry.size()));
    for (const Ints& list : entry) {
      image.put(static_cast<std::uint32_t>(list.size()));
      put_ints(image, list);
    }
    image.end_entry();
  }
  const Chunk chunk = run_whole(program, image.with_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, 0), (Ends{0, 3, 3, 4}));
  EXPECT_EQ(array_of<std::int64_t>(chunk, 2), (Ends{0, 2, 2, 3, 4}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, 4), (Ints{1, 2, 3, 4}));
}

TEST(ReadProgram, EndsGoOnWhereTheChunkBeforeEnded) {
  ProgramMaker maker;
  Op list = maker.list(Kind::list);
  list.block = maker.block({maker.numbers(4)});
  const Program program = maker.make({list});
  EntriesImage image;
  for (const Ints& entry : {Ints{1, 2}, Ints{}}) {
    image.put(static_cast<std::uint32_t>(entry.size()));
    put_ints(image, entry);
    image.end_entry();
  }
  const auto ends_with = [&](const std::vector<std::int64_t>& first) {
    const auto chunk = run_program(program, image.with_offsets(), first, nullptr);
    EXPECT_TRUE(chunk);
    return array_of<std::int64_t>(*chunk, 0);
  };
  EXPECT_EQ(ends_with({0, 0, 0}), (Ends{0, 2, 2}));
  EXPECT_EQ(ends_with({1, 0, 0}), (Ends{2, 2}));  // entries before this chunk, without items
  EXPECT_EQ(ends_with({4, 10, 10}), (Ends{12, 12}));
  EXPECT_EQ(ends_with({4, 1ll << 40, 1ll << 40}), (Ends{(1ll << 40) + 2, (1ll << 40) + 2}));
}

TEST(ReadProgram, CountsThatCannotBe) {
  ProgramMaker maker;
  Op list = maker.list(Kind::list);
  list.block = maker.block({maker.numbers(4)});
  const Program program = maker.make({list});
  for (const std::uint32_t count : {0u, 2u, 3u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
    EntriesImage image;
    image.put(count);
    image.put(std::int32_t{1});
    image.end_entry();
    expect_damaged(program, image.with_offsets());
  }
  ProgramMaker of_strings;
  Op strings = of_strings.list(Kind::list);
  strings.block = of_strings.block({of_strings.string()});
  const Program second = of_strings.make({strings});
  EntriesImage image;
  image.put(0xFFFFFFFFu);
  for (int i = 0; i < 100; ++i) image.put_string("");
  image.end_entry();
  expect_damaged(second, image.with_offsets());
}

TEST(ReadProgram, ListsOfFixedLength) {
  ProgramMaker maker;
  Op list = maker.list(Kind::fixed_list);
  list.count = 2;
  list.block = maker.block({maker.string()});
  const Program program = maker.make({list});
  EntriesImage image;
  for (const auto& [a, b] : std::vector<std::pair<const char*, const char*>>{{"a", "bc"}, {"", "d"}}) {
    image.put_string(a);
    image.put_string(b);
    image.end_entry();
  }
  const Chunk chunk = run_whole(program, image.without_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, 0), (Ends{0, 2, 4}));
  EXPECT_EQ(array_of<std::int64_t>(chunk, 2), (Ends{0, 1, 3, 3, 4}));
  EXPECT_EQ(text_of(chunk, 3), "abcd");
}

TEST(ReadProgram, CountersOfEachSize) {
  for (const std::uint8_t size : std::vector<std::uint8_t>{1, 2, 4, 8}) {
    ProgramMaker maker;
    const Op counter = maker.into_register(maker.numbers(size));
    Op list = maker.list(Kind::counted_list);
    list.reg = counter.reg;
    list.block = maker.block({maker.numbers(2)});
    const Program program = maker.make({counter, list});
    EntriesImage image;
    for (const int n : {2, 0, 3}) {
      image.patch_space(size - 1u);
      image.put(static_cast<std::uint8_t>(n));
      for (int i = 0; i < n; ++i) image.put(static_cast<std::int16_t>(i));
      image.end_entry();
    }
    const Chunk chunk = run_whole(program, image.without_offsets());
    EXPECT_EQ(array_of<std::int64_t>(chunk, 1), (Ends{0, 2, 2, 5})) << int{size};
    EXPECT_EQ(array_of<std::int16_t>(chunk, 3), (std::vector<std::int16_t>{0, 1, 0, 1, 2}));
  }
}

TEST(ReadProgram, CountersThatCannotBe) {
  ProgramMaker maker;
  const Op counter = maker.into_register(maker.numbers(4));
  Op list = maker.list(Kind::counted_list);
  list.reg = counter.reg;
  list.block = maker.block({maker.numbers(2)});
  const Program program = maker.make({counter, list});
  for (const std::int32_t n : {-1, INT32_MIN, 2, INT32_MAX}) {
    EntriesImage image;
    image.put(n);
    image.put(std::int16_t{1});
    image.end_entry();
    expect_damaged(program, image.with_offsets());
  }
}

// `T* p; //[n]`: without the flag nothing follows, whatever n is.
TEST(ReadProgram, FlagsOfCountedArrays) {
  ProgramMaker maker;
  const Op counter = maker.into_register(maker.numbers(4));
  Op list = maker.list(Kind::flagged_list);
  list.reg = counter.reg;
  list.block = maker.block({maker.numbers(4)});
  const Program program = maker.make({counter, list});
  EntriesImage image;
  image.put(std::int32_t{2});
  image.put(std::uint8_t{1});
  put_ints(image, {7, 8});
  image.end_entry();
  image.put(std::int32_t{3});
  image.put(std::uint8_t{0});
  image.end_entry();
  const Chunk chunk = run_whole(program, image.with_offsets());
  EXPECT_EQ(array_of<std::int32_t>(chunk, 0), (Ints{2, 3}));
  EXPECT_EQ(array_of<std::int64_t>(chunk, 1), (Ends{0, 2, 2}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, 3), (Ints{7, 8}));
}

// vector<{int a; string b;}> in both forms.
Program records_in_both_forms() {
  ProgramMaker maker;
  Op list = maker.list(Kind::list);
  const Op a = maker.numbers(4), b = maker.string();
  list.block = maker.block({a, b});
  Op each_a{.kind = Kind::repeat}, each_b{.kind = Kind::repeat};
  each_a.block = maker.block({a});
  each_b.block = maker.block({b});
  Op members = list;
  members.kind = Kind::member_list;
  members.block = maker.block({each_a, each_b});
  Op stl{.kind = Kind::stl};
  stl.block = maker.block({list});
  stl.other = maker.block({{.kind = Kind::value_version}, members});
  return maker.make({stl});
}

TEST(ReadProgram, BothFormsOfACollectionFillTheSameArrays) {
  const Program program = records_in_both_forms();
  EntriesImage image;
  const std::size_t by_object = image.open(9);
  image.put(std::uint32_t{2});
  for (const int i : {1, 2}) {
    image.put(std::int32_t{i});
    image.put_string(std::string(static_cast<std::size_t>(i), 'o'));
  }
  image.close(by_object);
  image.end_entry();
  for (const bool foreign : {false, true}) {
    const std::size_t by_member = image.open(9 | kMemberWiseBit);
    image.put(static_cast<std::uint16_t>(foreign ? 0 : 4));
    if (foreign) image.put(std::uint32_t{0xABCDEF});
    image.put(std::uint32_t{2});
    put_ints(image, {3, 4});
    image.put_string("mmm");
    image.put_string("");
    image.close(by_member);
    image.end_entry();
  }
  const std::size_t empty = image.open(9 | kMemberWiseBit);
  image.put(std::uint16_t{4});
  image.put(std::uint32_t{0});
  image.close(empty);
  image.end_entry();
  const Chunk chunk = run_whole(program, image.with_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, 0), (Ends{0, 2, 4, 6, 6}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, 2), (Ints{1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(array_of<std::int64_t>(chunk, 3), (Ends{0, 1, 3, 6, 6, 9, 9}));
  EXPECT_EQ(text_of(chunk, 4), "ooommmmmm");
}

TEST(ReadProgram, AFormThatWasNotCompiledIsRefused) {
  Program program = records_in_both_forms();
  program.ops[program.main.begin].other = {};
  EntriesImage image;
  const std::size_t at = image.open(9 | kMemberWiseBit);
  image.put(std::uint16_t{4});
  image.put(std::uint32_t{0});
  image.close(at);
  image.end_entry();
  expect_damaged(program, image.with_offsets());
}

TEST(ReadProgram, MemberWiseCountsThatCannotBe) {
  const Program program = records_in_both_forms();
  for (const std::uint32_t count : {1u, 3u, 0xFFFFFFFFu}) {
    EntriesImage image;
    const std::size_t at = image.open(9 | kMemberWiseBit);
    image.put(std::uint16_t{4});
    image.put(count);
    put_ints(image, {3, 4});
    image.put_string("");
    image.put_string("");
    image.close(at);
    image.end_entry();
    expect_damaged(program, image.with_offsets());
  }
}

// A member-wise list in each item of a member-wise list: `repeat` must count the items of the inner list, not those of
// the outer one.
TEST(ReadProgram, MemberWiseInMemberWise) {
  ProgramMaker maker;
  Op outer = maker.list(Kind::member_list), inner = maker.list(Kind::member_list);
  const Op deep = maker.numbers(4), flat = maker.numbers(1);
  Op each_deep{.kind = Kind::repeat}, each_inner{.kind = Kind::repeat}, each_flat{.kind = Kind::repeat};
  each_deep.block = maker.block({deep});
  inner.block = maker.block({each_deep});
  each_inner.block = maker.block({inner});
  each_flat.block = maker.block({flat});
  outer.block = maker.block({each_inner, each_flat});
  const Program program = maker.make({outer});
  EntriesImage image;
  image.put(std::uint32_t{2});
  image.put(std::uint32_t{3});
  put_ints(image, {1, 2, 3});
  image.put(std::uint32_t{1});
  put_ints(image, {4});
  image.put(std::uint8_t{8});
  image.put(std::uint8_t{9});
  image.end_entry();
  const Chunk chunk = run_whole(program, image.with_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, 0), (Ends{0, 2}));
  EXPECT_EQ(array_of<std::int64_t>(chunk, 2), (Ends{0, 3, 4}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, 4), (Ints{1, 2, 3, 4}));
  EXPECT_EQ(array_of<std::uint8_t>(chunk, 5), (std::vector<std::uint8_t>{8, 9}));
}

TEST(ReadProgram, TheRestOfAnEntryIsAList) {
  ProgramMaker maker;
  Op rest = maker.list(Kind::rest);
  rest.block = maker.block({maker.numbers(4)});
  const Program program = maker.make({maker.numbers(1), rest});
  EntriesImage image;
  for (const Ints& entry : {Ints{1, 2}, Ints{}, Ints{3}}) {
    image.put(std::uint8_t{0});
    put_ints(image, entry);
    image.end_entry();
  }
  const Chunk chunk = run_whole(program, image.with_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, 0), (Ends{0, 2, 2, 3}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, 2), (Ints{1, 2, 3}));
  EntriesImage uneven;
  uneven.put(std::uint8_t{0});
  uneven.put(std::int16_t{0});
  uneven.end_entry();
  expect_damaged(program, uneven.with_offsets());
}

TEST(ReadProgram, TheRestOfAnEntryOfPackedNumbers) {
  ProgramMaker maker;
  Op rest{.kind = Kind::rest, .with_slot = false};
  rest.block = maker.block({maker.packed(parse_packing("", false))});
  const Program program = maker.make({rest});
  EntriesImage image;
  for (const int exponent : {127, 128}) {
    image.put(static_cast<std::uint8_t>(exponent));
    image.put(std::uint16_t{0});
  }
  image.end_entry();
  EXPECT_EQ(array_of<float>(run_whole(program, image.with_offsets()), 0), (std::vector<float>{1, 2}));
}

TEST(ReadProgram, AnItemWithoutBytesDoesNotRepeatForever) {
  ProgramMaker maker;
  Op rest = maker.list(Kind::rest), nothing = maker.list(Kind::fixed_list);
  nothing.count = 0;
  rest.block = maker.block({nothing});
  const Program program = maker.make({rest});
  EntriesImage image;
  image.put(std::uint8_t{1});
  image.end_entry();
  expect_damaged(program, image.with_offsets());
}

TEST(ReadProgram, AnArrayOfObjectsWithoutBytesEnds) {
  ProgramMaker maker;
  Op loop = maker.list(Kind::loop), nothing = maker.list(Kind::fixed_list);
  nothing.count = 0;
  loop.reg = -1;  // as many as fill it
  loop.count = 1;
  loop.block = maker.block({nothing});
  const Program program = maker.make({loop});
  EntriesImage image;
  image.put(std::uint32_t{0x40000000 | 6});  // byte count, then a version and four bytes
  image.put(std::uint16_t{1});
  image.put(std::uint32_t{0});
  image.end_entry();
  expect_damaged(program, image.with_offsets());
}

// Ten levels of lists that each claim as many items as there are bytes, and have none: 64^10 items.
TEST(ReadProgram, ListsOfItemsWithoutBytesEnd) {
  ProgramMaker maker;
  Op list = maker.list(Kind::fixed_list);
  list.count = 0;
  for (int level = 0; level < 10; ++level) {
    Op outer = maker.list(Kind::fixed_list);
    outer.count = 64;
    outer.block = maker.block({list});
    list = outer;
  }
  const Program program = maker.make({list});
  EntriesImage image;
  for (int i = 0; i < 64; ++i) image.put(std::uint8_t{0});
  image.end_entry();
  expect_damaged(program, image.with_offsets());
}

TEST(ReadProgram, CountsOfASplitCollection) {
  ProgramMaker maker;
  const Program program = maker.make({maker.list(Kind::counts)});
  EntriesImage image;
  for (const std::int32_t n : {3, 0, 2}) {
    image.put(n);
    image.end_entry();
  }
  EXPECT_EQ(array_of<std::int64_t>(run_whole(program, image.without_offsets()), 0), (Ends{0, 3, 3, 5}));
  EntriesImage negative;
  negative.put(std::int32_t{-1});
  negative.end_entry();
  expect_damaged(program, negative.with_offsets());
}

// A member of a split collection may have no header in an entry without items.
TEST(ReadProgram, EmptyEntriesOfSplitCollections) {
  ProgramMaker maker;
  Op rest{.kind = Kind::rest, .with_slot = false}, list = maker.list(Kind::list);
  list.block = maker.block({maker.numbers(4)});
  rest.block = maker.block({list});
  maker.program().entry_is_items = maker.program().needs_entry_ends = true;
  const Program program = maker.make({{.kind = Kind::frame}, rest});
  EntriesImage image;
  image.end_entry();
  const std::size_t two = image.open(9);
  for (const Ints& item : {Ints{1, 2}, Ints{3}}) {
    image.put(static_cast<std::uint32_t>(item.size()));
    put_ints(image, item);
  }
  image.close(two);
  image.end_entry();
  const std::size_t none = image.open(9);
  image.close(none);
  image.end_entry();
  const Chunk chunk = run_whole(program, image.with_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, 0), (Ends{0, 2, 3}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, 2), (Ints{1, 2, 3}));
}

TEST(ReadProgram, EntriesThatEndTooEarlyOrTooLate) {
  ProgramMaker maker;
  const Program program = maker.make({maker.numbers(4)});
  for (const std::size_t size : std::vector<std::size_t>{3, 5, 8}) {
    EntriesImage image;
    image.patch_space(4);
    image.end_entry();
    image.patch_space(size);
    image.end_entry();
    expect_damaged(program, image.with_offsets());
    expect_damaged(program, image.without_offsets());
  }
}

TEST(ReadProgram, TheFaultyEntryIsNamed) {
  ProgramMaker maker;
  const Program program = maker.make({maker.numbers(4)});
  EntriesImage image;
  for (const std::size_t size : std::vector<std::size_t>{4, 4, 3}) {
    image.patch_space(size);
    image.end_entry();
  }
  const auto chunk = run_program(program, image.with_offsets(), {}, nullptr);
  ASSERT_FALSE(chunk);
  EXPECT_NE(chunk.error().text.find("entry 2"), std::string::npos) << chunk.error().text;
}

TEST(ReadProgram, OffsetsThatCannotBe) {
  ProgramMaker maker;
  const Program program = maker.make({maker.numbers(4)});
  const std::vector<std::byte> data(8);
  for (const std::vector<std::int32_t>& offsets :
       {std::vector<std::int32_t>{0, 4}, {0, 4, 8, 8}, {0, 4, 12}, {4, 0, 4}, {0, -4, 8}, {-4, 0, 4}, {8, 12, 16}})
    expect_damaged(program, {data, offsets, 2});
}

TEST(ReadProgram, EntriesWhoseEndIsNeededHaveOffsets) {
  ProgramMaker maker;
  Op rest = maker.list(Kind::rest);
  rest.block = maker.block({maker.numbers(4)});
  maker.program().needs_entry_ends = true;
  const Program program = maker.make({rest});
  EntriesImage image;
  put_ints(image, {1, 2});
  image.end_entry();
  EXPECT_EQ(array_of<std::int64_t>(run_whole(program, image.without_offsets()), 0), (Ends{0, 2}));
  put_ints(image, {3});
  image.end_entry();
  expect_damaged(program, image.without_offsets());
}

TEST(ReadProgram, NoEntries) {
  const Program program = records_in_both_forms();
  const EntriesImage image;
  const Chunk chunk = run_whole(program, image.without_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, 0), (Ends{0}));
  EXPECT_EQ(array_of<std::int64_t>(chunk, 3), (Ends{0}));
  EXPECT_TRUE(chunk.arrays[2].empty());
}

}  // namespace
}  // namespace tfile
