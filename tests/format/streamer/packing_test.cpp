// SPDX-License-Identifier: Apache-2.0
#include "streamer/layout/packing.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "format/container/file_image.h"

namespace tfile {
namespace {

using PackingKind = Packing::Kind;

template <class T>
std::vector<T> unpacked(const Packing& packing, const test::Bytes& bytes) {
  std::vector<T> values(bytes.size() / packing.stored_size());
  EXPECT_EQ(packing.to_double, sizeof(T) == 8);
  unpack(packing, bytes.all(), reinterpret_cast<std::byte*>(values.data()));
  return values;
}

TEST(Packing, WithoutARangeTheTypeDecides) {
  for (const char* title : {"", "just a comment", "pt[3]", "m[2][3]", "[n]", "a, b", "x[", "x[1,2", "[2][3][0,1]"}) {
    const Packing wide = parse_packing(title, true);
    EXPECT_EQ(wide.kind, PackingKind::plain_float) << title;
    EXPECT_EQ(wide.stored_size(), 4u);
    const Packing narrow = parse_packing(title, false);
    EXPECT_EQ(narrow.kind, PackingKind::truncated) << title;
    EXPECT_EQ(narrow.bits, 12u);
    EXPECT_EQ(narrow.stored_size(), 3u);
  }
}

TEST(Packing, RangesWithAndWithoutBits) {
  const struct {
    const char* title;
    double minimum, maximum, steps;
  } kRows[] = {{"[0,10]", 0, 10, 4294967295.0},
               {"[0,10,12]", 0, 10, 4096},
               {"[-1, 1, 9] a comment [3,4]", -1, 1, 512},
               {"[0,1,32]", 0, 1, 4294967295.0},
               {"[0,1,1]", 0, 1, 4294967295.0},
               {"[0,1,33]", 0, 1, 4294967295.0},
               {"[0,1,nonsense]", 0, 1, 4294967295.0},
               {"[0,1,31]", 0, 1, 2147483648.0},
               {"[5][0,1,2]", 0, 1, 4},
               {"/d[-2.71,10,20]", -2.71, 10, 1048576}};
  for (const auto& row : kRows) {
    for (const bool to_double : {false, true}) {
      const Packing packing = parse_packing(row.title, to_double);
      EXPECT_EQ(packing.kind, PackingKind::ranged) << row.title;
      EXPECT_EQ(packing.stored_size(), 4u);
      EXPECT_EQ(packing.minimum, row.minimum) << row.title;
      EXPECT_EQ(packing.factor, row.steps / (row.maximum - row.minimum)) << row.title;
    }
  }
}

TEST(Packing, MultiplesOfPi) {
  constexpr double pi = std::numbers::pi;
  const struct {
    const char* title;
    double minimum, maximum;
  } kRows[] = {{"[-pi,pi]", -pi, pi},
               {"[0,2pi]", 0, 2 * pi},
               {"[-2*pi,twopi]", -2 * pi, 2 * pi},
               {"[ - PI , Pi ]", -pi, pi},
               {"[-pi/2,pi/2]", -pi / 2, pi / 2},
               {"[0,pi/4]", 0, pi / 4}};
  for (const auto& row : kRows) {
    const Packing packing = parse_packing(row.title, true);
    EXPECT_EQ(packing.kind, PackingKind::ranged) << row.title;
    EXPECT_DOUBLE_EQ(packing.minimum, row.minimum) << row.title;
    EXPECT_DOUBLE_EQ(packing.factor, 4294967295.0 / (row.maximum - row.minimum)) << row.title;
  }
}

TEST(Packing, BitsWithoutARangeAreOfTheMantissa) {
  for (int bits = 2; bits < 15; ++bits) {
    for (const bool to_double : {false, true}) {
      const Packing packing = parse_packing("[0,0," + std::to_string(bits) + "]", to_double);
      EXPECT_EQ(packing.kind, PackingKind::truncated);
      EXPECT_EQ(packing.bits, static_cast<std::uint32_t>(bits));
      EXPECT_EQ(packing.stored_size(), 3u);
    }
  }
  // From 15 bits on, the range is ignored.
  for (const char* title : {"[0,0,15]", "[0,0,16]", "[0,0,32]", "[0,0]", "[1,0,20]"}) {
    EXPECT_EQ(parse_packing(title, true).stored_size() == 4, std::string(title) != "[1,0,20]") << title;
    EXPECT_EQ(parse_packing(title, false).kind, PackingKind::truncated) << title;
  }
  EXPECT_EQ(parse_packing("[0,0,32]", true).kind, PackingKind::plain_float);
  EXPECT_EQ(parse_packing("[0,0,32]", false).bits, 12u);
}

TEST(Packing, PlainFloatsWiden) {
  test::Bytes bytes;
  for (const float value : {0.0f, -1.5f, 3.25e30f, 0.1f}) bytes.put(value);
  EXPECT_EQ(unpacked<double>(parse_packing("", true), bytes), (std::vector<double>{0, -1.5, 3.25e30f, 0.1f}));
}

// Exponent and mantissa, computed as the description of the format says it, not as the code does.
double by_the_formula(unsigned exponent, unsigned mantissa, unsigned n) {
  const unsigned kept = mantissa & ((1u << (n + 1)) - 1);
  float value;
  const std::uint32_t raw = (exponent << 23) | (kept << (23 - n));
  std::memcpy(&value, &raw, sizeof value);
  return (mantissa >> (n + 1)) & 1 ? -double{value} : double{value};
}

TEST(Packing, TruncatedNumbersByTheFormula) {
  std::mt19937 random(1);
  for (unsigned n = 2; n < 15; ++n) {
    test::Bytes bytes;
    std::vector<double> expected;
    for (int i = 0; i < 200; ++i) {
      const auto exponent = static_cast<std::uint8_t>(random() % 254);  // the carry below stays a number
      const auto mantissa = static_cast<std::uint16_t>(random() & ((1u << (n + 2)) - 1));
      bytes.put(exponent);
      bytes.put(mantissa);
      expected.push_back(by_the_formula(exponent, mantissa, n));
    }
    EXPECT_EQ(unpacked<double>(parse_packing("[0,0," + std::to_string(n) + "]", true), bytes), expected) << n;
  }
}

TEST(Packing, TruncatedNumbersByHand) {
  test::Bytes bytes;
  for (const auto& [exponent, mantissa] :
       std::vector<std::pair<int, int>>{{127, 0}, {127, 1 << 11}, {128, 1 << 13}, {0, 0}}) {
    bytes.put(static_cast<std::uint8_t>(exponent));
    bytes.put(static_cast<std::uint16_t>(mantissa));
  }
  EXPECT_EQ(unpacked<float>(parse_packing("", false), bytes), (std::vector<float>{1, 1.5, -2, 0}));
}

TEST(Packing, RangedNumbersReachBothEnds) {
  test::Bytes bytes;
  for (const std::uint32_t n : {0u, 2048u, 4096u}) bytes.put(n);
  EXPECT_EQ(unpacked<double>(parse_packing("[-5,5,12]", true), bytes), (std::vector<double>{-5, 0, 5}));
  EXPECT_EQ(unpacked<float>(parse_packing("[-5,5,12]", false), bytes), (std::vector<float>{-5, 0, 5}));
  test::Bytes wide;
  wide.put(std::uint32_t{0xFFFFFFFF});
  EXPECT_EQ(unpacked<double>(parse_packing("[0,10]", true), wide),
            (std::vector<double>{4294967295.0 / (4294967295.0 / 10)}));
}

// ROOT divides by the factor. Multiplying by its inverse would differ in the last bits.
TEST(Packing, RangedNumbersAreDivided) {
  std::mt19937 random(2);
  test::Bytes bytes;
  std::vector<double> expected;
  const double factor = 1048576 / (10 - -2.71);
  for (int i = 0; i < 1000; ++i) {
    const auto n = static_cast<std::uint32_t>(random() % 1048577);
    bytes.put(n);
    expected.push_back(n / factor + -2.71);
  }
  EXPECT_EQ(unpacked<double>(parse_packing("[-2.71,10,20]", true), bytes), expected);
}

TEST(Packing, AnItemCutShortIsLeftOut) {
  const Packing packing = parse_packing("", false);
  const std::vector<std::byte> stored(5, std::byte{0});
  std::vector<float> values{7, 7};
  unpack(packing, stored, reinterpret_cast<std::byte*>(values.data()));
  EXPECT_EQ(values, (std::vector<float>{0, 7}));
}

// One number, by the formula of docs/format.md.
double by_hand(const Packing& packing, const std::byte* p) {
  const auto byte = [&](int i) { return std::to_integer<std::uint32_t>(p[i]); };
  if (packing.kind == PackingKind::truncated) {
    const std::uint32_t mantissa = byte(1) << 8 | byte(2), kept = mantissa & ((1u << (packing.bits + 1)) - 1);
    const std::uint32_t sign = mantissa >> (packing.bits + 1) & 1;
    const std::uint32_t bits = byte(0) << 23 | kept << (23 - packing.bits);
    return (sign ? -1.0f : 1.0f) * std::bit_cast<float>(bits);
  }
  const std::uint32_t number = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
  return packing.kind == PackingKind::ranged ? number / packing.factor + packing.minimum : std::bit_cast<float>(number);
}

// Numbers are unpacked many at a time. For all lengths around those of vector registers, each must be as if unpacked
// alone.
TEST(Packing, ManyAtATimeAreAsOneByOne) {
  std::minstd_rand random(3);
  for (const bool to_double : {false, true})
    for (const char* title : {"", "[0,0,2]", "[0,0,7]", "[0,0,14]", "[-5,17]", "[0,1000,20]"}) {
      const Packing packing = parse_packing(title, to_double);
      for (std::size_t count = 0; count < 70; ++count) {
        std::vector<std::byte> stored(count * packing.stored_size());
        for (std::byte& b : stored) b = static_cast<std::byte>(random() >> 8);
        const std::size_t size = to_double ? 8 : 4;
        std::vector<std::byte> values(count * size + 1, std::byte{0x5a});
        unpack(packing, stored, values.data());
        EXPECT_EQ(values.back(), std::byte{0x5a});
        for (std::size_t i = 0; i < count; ++i) {
          const double expected = by_hand(packing, stored.data() + i * packing.stored_size());
          double wide = 0;
          float narrow = 0;
          to_double ? std::memcpy(&wide, &values[i * size], size) : std::memcpy(&narrow, &values[i * size], size);
          if (std::isnan(expected))
            EXPECT_TRUE(std::isnan(to_double ? wide : narrow));
          else
            EXPECT_EQ(to_double ? wide : static_cast<double>(narrow),
                      to_double ? expected : static_cast<double>(static_cast<float>(expected)))
                << title << ": number " << i << " of " << count;
        }
      }
    }
}

template <class T>
std::vector<std::byte> packed(const Packing& packing, const std::vector<T>& numbers) {
  std::vector<std::byte> stored(numbers.size() * packing.stored_size());
  pack(packing, std::as_bytes(std::span(numbers)), stored.data());
  return stored;
}

template <class T>
std::vector<T> unpacked_of(const Packing& packing, const std::vector<std::byte>& stored) {
  std::vector<T> numbers(stored.size() / packing.stored_size());
  unpack(packing, stored, reinterpret_cast<std::byte*>(numbers.data()));
  return numbers;
}

// `error`: the largest, absolute, or relative to the number.
template <class T>
void expect_nearest(const char* title, double low, double high, double error) {
  const Packing packing = parse_packing(title, sizeof(T) == 8);
  std::mt19937 random(5);
  std::uniform_real_distribution<T> any(static_cast<T>(low), static_cast<T>(high));
  std::vector<T> numbers{static_cast<T>(low), static_cast<T>(high)};
  for (int i = 0; i < 1000; ++i) numbers.push_back(any(random));
  const std::vector<std::byte> stored = packed(packing, numbers);
  const std::vector<T> read = unpacked_of<T>(packing, stored);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double most = packing.kind == PackingKind::ranged ? error : error * std::abs(static_cast<double>(numbers[i]));
    EXPECT_NEAR(static_cast<double>(read[i]), static_cast<double>(numbers[i]), most * 1.000001) << title;
  }
  EXPECT_EQ(packed(packing, read), stored) << title;
}

TEST(Packing, NumbersArePackedAsTheNearest) {
  expect_nearest<double>("", -50, 50, 0x1p-24);
  expect_nearest<double>("[0,1000,16]", 0, 1000, 1000 * 0x1p-17);
  expect_nearest<double>("[-5,5]", -5, 5, 10 * 0x1p-32);
  expect_nearest<double>("[-pi,pi,2]", -3.14, 3.14, 2 * std::numbers::pi / 8);
  expect_nearest<double>("[0,0,10]", -50, 50, 0x1p-10);  // at a power of two: what would be it stays below
  expect_nearest<float>("", -50, 50, 0x1p-12);
  expect_nearest<float>("[-1,1,9]", -1, 1, 2 * 0x1p-10);
  expect_nearest<float>("[0,0,2]", -50, 50, 0x1p-2);
}

TEST(Packing, WhatIsBeyondARangeIsFound) {
  const Packing packing = parse_packing("[0,1000,16]", true);
  const auto first = [&](std::vector<double> numbers) {
    return first_beyond(packing, std::as_bytes(std::span(numbers)));
  };
  EXPECT_EQ(first({0, 1000, 3}), std::nullopt);
  EXPECT_EQ(first({0, 1000.001}), 1u);
  EXPECT_EQ(first({-0.001, 5}), 0u);
  EXPECT_EQ(first({1, 2, std::numeric_limits<double>::quiet_NaN()}), 2u);
  const std::vector<double> none{std::numeric_limits<double>::quiet_NaN(), -1, 1e300, -1e300};
  EXPECT_EQ(unpacked_of<double>(packing, packed(packing, none)), (std::vector<double>{0, 0, 1000, 0}));
  const std::vector<double> any{1e300};
  EXPECT_EQ(first_beyond(parse_packing("", true), std::as_bytes(std::span(any))), std::nullopt);
}

}  // namespace
}  // namespace tfile
