// SPDX-License-Identifier: Apache-2.0
#include "view/friends/key_index.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace tfilefs {
namespace {

EntryKey key(std::int64_t major, std::int64_t minor) { return {KeyPart::of(major), KeyPart::of(minor)}; }

TEST(KeyIndex, TheFirstOfEqualKeysIsFound) {
  KeyIndex index;
  for (const EntryKey& each : {key(2, 1), key(1, 9), key(2, 1), key(1, 9), key(-3, 0)}) index.add(each);
  index.sort();
  std::size_t behind = 0;
  EXPECT_EQ(index.find(key(2, 1), behind), 0);
  EXPECT_EQ(index.find(key(1, 9), behind), 1);
  EXPECT_EQ(index.find(key(2, 1), behind), 0);
  EXPECT_EQ(index.find(key(-3, 0), behind), 4);
  EXPECT_EQ(index.find(key(1, 9), behind), 1);
  EXPECT_EQ(index.find(key(1, 8), behind), -1);
  EXPECT_EQ(index.find(key(9, 9), behind), -1);
  EXPECT_EQ(index.find(key(-9, 9), behind), -1);
}

TEST(KeyIndex, KeysInOrder) {
  KeyIndex index;
  for (std::int64_t i = 0; i < 1000; ++i) index.add(key(i / 10, 2 * (i % 10)));
  index.sort();
  std::size_t behind = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(index.find(key(i / 10, 2 * (i % 10)), behind), i);
    EXPECT_EQ(index.find(key(i / 10, 2 * (i % 10) + 1), behind), -1);
  }
}

TEST(KeyIndex, AStoredOneIsTakenAsItIs) {
  tfile::EntryIndex stored{"run", "event", {1, 1, 2}, {5, 5, 0}, {7, 3, -8}};
  const KeyIndex index(stored);
  std::size_t behind = 0;
  EXPECT_EQ(index.find(key(1, 5), behind), 7);
  EXPECT_EQ(index.find(key(2, 0), behind), -8);
  stored.major = {3, 1, 2};  // not in order: something is found, or nothing
  const KeyIndex damaged(stored);
  for (std::int64_t major = 0; major < 5; ++major) (void)damaged.find(key(major, 5), behind);
}

// Numbers of every type, and what they are.
struct Typed {
  tfile::Dtype dtype;
  std::vector<std::byte> bytes;
  std::vector<long double> values;
};

template <class T>
Typed typed(tfile::Dtype dtype, std::vector<T> numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {dtype, {bytes.begin(), bytes.end()}, {numbers.begin(), numbers.end()}};
}

std::vector<Typed> numbers_of_all_types() {
  using tfile::Dtype;
  constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                   kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(),
                         kMost = std::numeric_limits<std::int64_t>::max();
  return {typed<std::int8_t>(Dtype::i1, {-1, 0, 1, 127}),
          typed<std::uint8_t>(Dtype::u1, {0, 1, 255}),
          typed<std::int64_t>(Dtype::i8, {-1, 0, 1, kLeast, kMost, kMost - 1, (std::int64_t{1} << 53) + 1}),
          typed<std::uint64_t>(Dtype::u8, {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63, 255}),
          typed<float>(Dtype::f4, {-0.0f, 1.5f, 0.1f, 3e38f, 16777216}),
          typed<double>(Dtype::f8, {0, -1, 1.5, 0.1, kNone, kInfinity, -kInfinity, 1e300, 2e300, -9223372036854775808.0,
                                    9223372036854775808.0, 18446744073709551616.0, 9007199254740992.0})};
}

TEST(KeyIndex, EqualNumbersOfAnyTypesBelongTogetherAndNoOthers) {
  for (const Typed& table : numbers_of_all_types()) {
    for (const Typed& friends : numbers_of_all_types()) {
      std::vector<KeyPart> wanted, held;
      add_as_parts(table.bytes, table.dtype, false, wanted);
      add_as_parts(friends.bytes, friends.dtype, false, held);
      KeyIndex index;
      for (const KeyPart& part : held) index.add({part, KeyPart::of(std::int64_t{0})});
      index.sort();
      std::size_t behind = 0;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        std::int64_t equal = -1;
        for (std::size_t k = held.size(); k-- > 0;) {
          if (friends.values[k] == table.values[i]) equal = static_cast<std::int64_t>(k);
        }
        EXPECT_EQ(index.find({wanted[i], KeyPart::of(std::int64_t{0})}, behind), equal)
            << static_cast<double>(table.values[i]);
      }
    }
  }
}

TEST(KeyIndex, PartsWithoutANumberAreNotLookedUp) {
  const KeyPart none = KeyPart::of(std::numeric_limits<long double>::quiet_NaN());
  KeyIndex index;
  index.add({none, KeyPart::of(std::int64_t{1})});
  index.add(key(0, 1));
  index.sort();
  std::size_t behind = 0;
  EXPECT_EQ(index.find({none, KeyPart::of(std::int64_t{1})}, behind), -1);
  EXPECT_EQ(index.find({KeyPart::of(std::int64_t{0}), none}, behind), -1);
  EXPECT_EQ(index.find(key(0, 1), behind), 1);
}

TEST(KeyIndex, NumbersAreCutForAStoredIndex) {
  std::vector<KeyPart> parts;
  const std::array<double, 6> numbers{1.9, -1.9, std::nan(""), 1e300, -1e300, 0.5};
  add_as_parts(std::as_bytes(std::span(numbers)), tfile::Dtype::f8, true, parts);
  const std::array<KeyPart::Kind, 6> kinds{KeyPart::Kind::whole, KeyPart::Kind::whole, KeyPart::Kind::none,
                                           KeyPart::Kind::none,  KeyPart::Kind::none,  KeyPart::Kind::whole};
  const std::array<std::int64_t, 6> bits{1, -1, 0, 0, 0, 0};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].kind, kinds[i]);
    EXPECT_EQ(parts[i].bits, bits[i]);
  }
}

}  // namespace
}  // namespace tfilefs
