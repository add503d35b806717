// SPDX-License-Identifier: Apache-2.0
#include "view/levels.h"

#include <gtest/gtest.h>

#include <string>

#include "damage.h"

namespace tfilefs {
namespace {

using Kind = LevelStep::Kind;

constexpr LevelStep kList{Kind::list, 0, 100};

// The levels as digits: "repetition/definition".
std::string levels_text(const std::vector<LevelStep>& steps, const std::vector<OffsetsWindow>& windows,
                        std::int64_t begin, std::int64_t end) {
  const Levels levels{steps, windows};
  std::int64_t places = 0;
  for (std::int64_t entry = begin; entry < end; ++entry) places += places_of(levels, entry);
  std::string bytes(levels_size(steps, places), '\0');
  if (!write_levels(levels, begin, end, places, bytes)) return "error";
  std::string text;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t size = static_cast<std::uint8_t>(bytes[at]);
    const auto groups = static_cast<std::size_t>(bytes[at + 4]) >> 1;
    const std::size_t width = (size - 1) / groups;
    for (std::int64_t i = 0; i < places; ++i) {
      unsigned level = 0;
      for (std::size_t bit = 0; bit < width; ++bit) {
        const std::size_t n = static_cast<std::size_t>(i) * width + bit;
        level |= (static_cast<unsigned>(bytes[at + 5 + n / 8]) >> n % 8 & 1) << bit;
      }
      text += std::to_string(level);
    }
    at += 4 + size;
    if (at < bytes.size()) text += "/";
  }
  return text;
}

TEST(Levels, OfOneList) {
  EXPECT_EQ(levels_text({kList}, {{0, {0, 2, 2, 5}}}, 0, 3), "010011/110111");
  EXPECT_EQ(levels_text({kList}, {{1, {2, 2, 5}}}, 1, 3), "0011/0111");
}

TEST(Levels, OfListsOfLists) {
  // [[1 2] [] [3]] [] [[]] of which the second entry has no lists
  EXPECT_EQ(levels_text({kList, kList}, {{0, {0, 3, 3, 4}}, {0, {0, 2, 2, 3, 3}}}, 0, 3), "021100/221201");
}

TEST(Levels, OfShapesOptionalValuesAndMissingEntries) {
  EXPECT_EQ(levels_text({{Kind::fixed, 0, 3}}, {{}}, 4, 6), "011011/111111");
  EXPECT_EQ(levels_text({{Kind::optional, 0, 9}}, {{0, {0, 1, 1, 2}}}, 0, 3), "101");
  // Whether the outer or the inner value is missing, the result is the same null.
  LevelStep outer{Kind::optional, 0, 9};
  outer.with_next = true;
  EXPECT_EQ(levels_text({outer, {Kind::optional, 0, 9}}, {{0, {0, 1, 1, 2}}, {0, {0, 0, 1}}}, 0, 3), "001");
  EXPECT_EQ(levels_text({{Kind::nullable, 0, 2}}, {{}}, 0, 4), "1100");
}

TEST(Levels, OfDatesThatMayBeNone) {
  const LevelStep date{Kind::date, 0, 100};
  EXPECT_EQ(levels_text({date}, {{0, {0, 1, 1, 2}}}, 0, 3), "101");
  EXPECT_EQ(levels_text({kList, date}, {{0, {0, 2, 2, 3}}, {0, {0, 0, 1, 2}}}, 0, 3), "0100/1202");
  LevelStep optional{Kind::optional, 0, 9};
  optional.with_next = true;
  EXPECT_EQ(levels_text({optional, date}, {{0, {0, 1, 1, 2}}, {0, {0, 0, 1}}}, 0, 3), "001");
  EXPECT_EQ(levels_text({{Kind::nullable, 0, 1}, kList}, {{}, {0, {0, 2}}}, 0, 2), "010/220");
  EXPECT_EQ(levels_text({kList, {Kind::nullable, 0, 1}}, {{0, {0, 2, 3}}, {}}, 0, 2), "010/211");
}

TEST(Levels, OfManyPlacesFillGroupsOfEight) {
  std::vector<std::int64_t> offsets{0};
  for (int i = 0; i < 40; ++i) offsets.push_back(offsets.back() + i % 3);
  const std::string text = levels_text({kList}, {{0, offsets}}, 0, 40);
  EXPECT_EQ(text.size(), 2 * 53 + 1u);
  EXPECT_EQ(std::count(text.begin(), text.begin() + 53, '0'), 40) << "each entry begins once";
}

TEST(Levels, OtherLengthsThanCountedAreDamage) {
  const std::vector<LevelStep> steps{kList};
  const std::vector<OffsetsWindow> windows{{0, {0, 2, 4}}};
  for (const std::int64_t places : {3, 5}) {
    std::string bytes(levels_size(steps, places), '\0');
    EXPECT_FALSE(write_levels({steps, windows}, 0, 2, places, bytes));
  }
}

TEST(Levels, OffsetsThatGoBackAreNotSound) {
  EXPECT_TRUE(are_offsets_sound(std::vector<std::int64_t>{0, 0, 3}, 3));
  EXPECT_FALSE(are_offsets_sound(std::vector<std::int64_t>{0, 2, 1}, 3));
  EXPECT_FALSE(are_offsets_sound(std::vector<std::int64_t>{-1, 2}, 3));
  EXPECT_FALSE(are_offsets_sound(std::vector<std::int64_t>{0, 4}, 3));
  EXPECT_EQ(unsound_offsets(std::vector<std::int64_t>{0, 2, 1}, {0, 3}).value().text,
            "list offsets decrease at element 2: 1 after 2");
  EXPECT_EQ(unsound_offsets(std::vector<std::int64_t>{0, 4}, {0, 3}).value().text,
            "list offsets 0 to 4, expected within 0 to 3");
}

}  // namespace
}  // namespace tfilefs
