// SPDX-License-Identifier: Apache-2.0
#include "tree/copy/basket_cut.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tree/record/basket.h"

namespace tfile {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(const BasketContent& basket) {
  return {reinterpret_cast<const char*>(basket.bytes.data()), basket.header.border()};
}

TreePlace place(const char* compression) {
  TreePlace place;
  place.directory_seek = 100;
  place.name = "t";
  place.compression = parse_compression(compression).value();
  return place;
}

BasketContent read_back(const Part& part) { return read_basket(part.stored.span()).value(); }

TEST(BasketCut, TakesEntriesOfOneSize) {
  const std::vector<std::byte> data = bytes_of("aaaabbbbccccdddd");
  const TakenEntries first{data, {}, {}, 4, 60, {{1, 2}, {3, 4}}}, second{data, {}, {}, 4, 60, {{0, 1}}};
  const std::vector<TakenEntries> taken = {first, second};
  const Part part = cut_basket({"x", "t", false, false}, place("none"), taken).value();
  const BasketContent basket = read_back(part);
  EXPECT_EQ(text_of(basket), "bbbbddddaaaa");
  EXPECT_EQ(basket.header.entries, 3);
  EXPECT_EQ(basket.header.nev_buf_size, 4);
  EXPECT_FALSE(basket.has_offsets);
  EXPECT_EQ(part.entries, 3);
}

TEST(BasketCut, TakesEntriesOfAnySize) {
  const std::vector<std::byte> data = bytes_of("abbcccdddd");
  const std::vector<std::int32_t> offsets = {0, 1, 3, 3, 6, 10};
  const std::vector<TakenEntries> taken = {{data, offsets, {}, 5, 60, {{0, 1}, {2, 4}}},
                                           {data, offsets, {}, 5, 60, {{4, 5}}}};
  for (const char* codec : {"none", "zstd:5"}) {
    const Part part = cut_basket({"x", "t", true, false}, place(codec), taken).value();
    const BasketContent basket = read_back(part);
    EXPECT_EQ(text_of(basket), "acccdddd");
    EXPECT_EQ(basket.offsets, (std::vector<std::int32_t>{0, 1, 1, 4, 8}));
    EXPECT_TRUE(basket.displacement.empty());
  }
}

TEST(BasketCut, TellsWhereEntriesWithPlacesWere) {
  const std::vector<std::byte> data = bytes_of("abbcccdddd");
  const std::vector<std::int32_t> offsets = {0, 1, 3, 6, 10};
  const auto keylen = static_cast<std::uint32_t>(basket_keylen("x", "t"));
  const CutForm form{"x", "t", true, true};
  const std::vector<TakenEntries> in_place = {{data, offsets, {}, 4, keylen, {{0, 4}}}};
  EXPECT_TRUE(read_back(cut_basket(form, place("none"), in_place).value()).displacement.empty()) << "nothing moved";
  const std::vector<TakenEntries> moved = {{data, offsets, {}, 4, keylen, {{2, 4}}}};
  const Part once = cut_basket(form, place("none"), moved).value();
  const BasketContent basket = read_back(once);
  EXPECT_EQ(basket.displacement, (std::vector<std::int32_t>{-3, -3}));
  // What has moved before counts from where it was first.
  const std::vector<TakenEntries> again = {{basket.bytes.first(basket.header.border()),
                                            basket.offsets,
                                            basket.displacement,
                                            2,
                                            basket.header.keylen,
                                            {{1, 2}}}};
  const Part cut_again = cut_basket(form, place("none"), again).value();
  const BasketContent twice = read_back(cut_again);
  EXPECT_EQ(text_of(twice), "dddd");
  EXPECT_EQ(twice.displacement, (std::vector<std::int32_t>{-6}));
}

TEST(BasketCut, RefusesWhatHasNoSizes) {
  const std::vector<std::byte> data = bytes_of("abcde");
  const std::vector<TakenEntries> taken = {{data, {}, {}, 2, 60, {{0, 1}}}};
  EXPECT_EQ(cut_basket({"x", "t", false, false}, place("none"), taken).error().kind, ErrorKind::damaged);
}

TEST(BasketCut, CompressesAnew) {
  std::vector<std::byte> data(5000);
  const std::vector<TakenEntries> taken = {{data, {}, {}, 1250, 60, {{0, 1250}}}};
  const Part zlib = cut_basket({"x", "t", false, false}, place("zlib:1"), taken).value();
  for (const char* codec : {"none", "lz4", "zstd:5"}) {
    const Part again = recompress_basket(zlib.stored.span(), parse_compression(codec).value()).value();
    const BasketContent basket = read_back(again);
    EXPECT_EQ(basket.header.objlen, 5000u);
    EXPECT_EQ(basket.header.nbytes, again.stored.size());
    EXPECT_EQ(again.raw_bytes, zlib.raw_bytes);
    EXPECT_EQ(again.stored.size() > 5000, std::string(codec) == "none");
  }
  std::vector<std::byte> damaged(zlib.stored.span().begin(), zlib.stored.span().end());
  damaged[damaged.size() / 2 + 40] ^= std::byte{0xFF};
  EXPECT_FALSE(recompress_basket(damaged, parse_compression("lz4").value()));
}

}  // namespace
}  // namespace tfile
