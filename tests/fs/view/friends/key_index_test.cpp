// SPDX-License-Identifier: Apache-2.0
#include "view/friends/key_index.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace tfilefs {
namespace {

TEST(KeyIndex, TheFirstOfEqualKeysIsFound) {
  KeyIndex index;
  for (const EntryKey key : {EntryKey{2, 1}, EntryKey{1, 9}, EntryKey{2, 1}, EntryKey{1, 9}, EntryKey{-3, 0}})
    index.add(key);
  index.sort();
  std::size_t behind = 0;
  EXPECT_EQ(index.find({2, 1}, behind), 0);
  EXPECT_EQ(index.find({1, 9}, behind), 1);
  EXPECT_EQ(index.find({2, 1}, behind), 0);
  EXPECT_EQ(index.find({-3, 0}, behind), 4);
  EXPECT_EQ(index.find({1, 9}, behind), 1);
  EXPECT_EQ(index.find({1, 8}, behind), -1);
  EXPECT_EQ(index.find({9, 9}, behind), -1);
  EXPECT_EQ(index.find({-9, 9}, behind), -1);
}

TEST(KeyIndex, KeysInOrder) {
  KeyIndex index;
  for (std::int64_t i = 0; i < 1000; ++i) index.add({i / 10, 2 * (i % 10)});
  index.sort();
  std::size_t behind = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(index.find({i / 10, 2 * (i % 10)}, behind), i);
    EXPECT_EQ(index.find({i / 10, 2 * (i % 10) + 1}, behind), -1);
  }
}

TEST(KeyIndex, AStoredOneIsTakenAsItIs) {
  tfile::EntryIndex stored{"run", "event", {1, 1, 2}, {5, 5, 0}, {7, 3, -8}};
  const KeyIndex index(stored);
  std::size_t behind = 0;
  EXPECT_EQ(index.find({1, 5}, behind), 7);
  EXPECT_EQ(index.find({2, 0}, behind), -8);
  stored.major = {3, 1, 2};  // not in order: something is found, or nothing
  const KeyIndex damaged(stored);
  for (std::int64_t major = 0; major < 5; ++major) (void)damaged.find({major, 5}, behind);
}

TEST(KeyIndex, NumbersAreCut) {
  const std::array<double, 6> numbers{1.9, -1.9, std::nan(""), 1e300, -1e300, 0.5};
  std::vector<std::int64_t> keys;
  add_as_integers(std::as_bytes(std::span(numbers)), tfile::Dtype::f8, keys);
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(keys, (std::vector<std::int64_t>{1, -1, Limits::min(), Limits::max(), Limits::min(), 0}));
  keys.clear();
  const std::array<std::int8_t, 2> small{-1, 1};
  add_as_integers(std::as_bytes(std::span(small)), tfile::Dtype::i1, keys);
  add_as_integers(std::as_bytes(std::span(small)), tfile::Dtype::u1, keys);
  EXPECT_EQ(keys, (std::vector<std::int64_t>{-1, 1, 255, 1}));
  keys.clear();
  const std::array<std::uint64_t, 2> large{5, ~std::uint64_t{0}};
  const std::array<float, 2> floats{-2.5f, 3e38f};
  add_as_integers(std::as_bytes(std::span(large)), tfile::Dtype::u8, keys);
  add_as_integers(std::as_bytes(std::span(floats)), tfile::Dtype::f4, keys);
  EXPECT_EQ(keys, (std::vector<std::int64_t>{5, -1, -2, Limits::max()}));
}

}  // namespace
}  // namespace tfilefs
