// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/number_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tfile {
namespace {

template <class T>
std::vector<std::byte> stored(const std::vector<T>& values) {
  std::vector<std::byte> bytes;
  for (const T value : values) {
    std::array<std::byte, sizeof(T)> one;
    std::memcpy(one.data(), &value, sizeof value);
    bytes.insert(bytes.end(), one.rbegin(), one.rend());
  }
  return bytes;
}

// What printf writes, as ROOT calls it.
template <class T>
std::string printed(T value) {
  constexpr bool kIsFloat = sizeof(T) == 4;
  if (std::isnan(value)) return "null";
  if (std::isinf(value)) return value < 0 ? "-2e308" : "2e308";
  const bool is_plain = value == std::nearbyint(value) && std::abs(value) < static_cast<T>(kIsFloat ? 1e15 : 1e25);
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), is_plain ? "%1.0f" : kIsFloat ? "%.7g" : "%.15g", static_cast<double>(value));
  return text.data();
}

template <class T>
void compare(const std::vector<T>& values, Dtype dtype) {
  const auto bytes = stored(values);
  const StoredNumbers numbers{bytes, dtype};
  std::string all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string one;
    append_numbers(one, numbers, i, 1);
    ASSERT_EQ(one, printed(values[i]));
    ASSERT_EQ(size_of_numbers(numbers, i, 1), one.size()) << one;
    all += (i == 0 ? "" : ", ") + one;
  }
  std::string together;
  append_numbers(together, numbers, 0, values.size());
  EXPECT_EQ(together, all);
  EXPECT_EQ(size_of_numbers(numbers, 0, values.size()), all.size());
}

template <class T>
std::vector<T> odd_numbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (const double value : {0.0,    -0.0,     1.0,      -1.0, 9.0,  10.0,     999.0, 1000.0,
                             9999.0, 10'000.0, 99'999.0, 1e5,  9e15, 9.1e15,   1e15,  999999986991104.0,
                             1e24,   1e25,     0.1,      1e-5, 1e-4, 123456.75})
    values.push_back(static_cast<T>(value));
  values.insert(values.end(), {Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min(), Limits::infinity(),
                               -Limits::infinity(), Limits::quiet_NaN()});
  return values;
}

TEST(NumberText, OfRealNumbersIsThatOfPrintf) {
  std::mt19937_64 random(3);
  auto doubles = odd_numbers<double>();
  auto floats = odd_numbers<float>();
  for (int i = 0; i < 30'000; ++i) {
    const std::uint64_t bits = random();
    double any;
    float any_float;
    std::memcpy(&any, &bits, sizeof any);
    std::memcpy(&any_float, &bits, sizeof any_float);
    const double whole = std::floor(std::exp(static_cast<double>(bits % 6000) / 100) - 1000);
    const double part = static_cast<double>(bits >> 11) * std::pow(10, static_cast<double>(bits % 60) - 45);
    doubles.insert(doubles.end(), {any, whole, whole / 1000, part, -part});
    floats.insert(floats.end(), {any_float, static_cast<float>(whole), static_cast<float>(whole / 1000),
                                 static_cast<float>(part), -static_cast<float>(part)});
  }
  compare(doubles, Dtype::f8);
  compare(floats, Dtype::f4);
}

// Close to the middle between two texts, and to a power of ten.
TEST(NumberText, OfRealNumbersThatAreRoundedUpOrDown) {
  std::vector<double> doubles;
  std::vector<float> floats;
  for (int exponent = -30; exponent < 32; ++exponent) {
    for (const double digits : {1.0, 9.9999995, 9.99999950001, 9.9999994, 1.0000005, 1.2345675, 9.999999999999995,
                                1.000000000000005, 9.9999999999999949, 1.25}) {
      for (double value = digits * std::pow(10, exponent), i = 0; i < 8; ++i, value = std::nextafter(value, 1e300)) {
        doubles.push_back(value);
        floats.push_back(static_cast<float>(value));
      }
    }
  }
  compare(doubles, Dtype::f8);
  compare(floats, Dtype::f4);
}

TEST(NumberText, OfWholeNumbersAndTruthValues) {
  std::vector<std::int64_t> values{0,
                                   -1,
                                   7,
                                   10,
                                   99,
                                   100,
                                   -12345,
                                   1'000'000'000'000,
                                   std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()};
  std::string expected;
  for (const std::int64_t value : values) expected += (expected.empty() ? "" : ", ") + std::to_string(value);
  const auto bytes = stored(values);
  std::string text;
  append_numbers(text, {bytes, Dtype::i8}, 0, values.size());
  EXPECT_EQ(text, expected);
  EXPECT_EQ(size_of_numbers({bytes, Dtype::i8}, 0, values.size()), expected.size());
  const auto truths = stored(std::vector<std::uint8_t>{1, 0, 2});
  text.clear();
  append_numbers(text, {truths, Dtype::b1}, 0, 3);
  EXPECT_EQ(text, "true, false, true");
  EXPECT_EQ(size_of_numbers({truths, Dtype::b1}, 0, 3), text.size());
}

// Of every length and beginning around the blocks in which they are counted.
TEST(NumberText, OfRunsOfZeros) {
  std::vector<float> values(300);
  values[150] = -0.0f;
  values[200] = 12.5f;
  const std::vector<std::uint8_t> truths(values.size());
  const auto bytes = stored(values), bytes_of_truths = stored(truths);
  for (const std::size_t begin : {0u, 1u, 63u, 64u, 130u, 151u, 201u}) {
    for (std::size_t count = 0; begin + count <= values.size(); ++count) {
      std::string text;
      append_numbers(text, {bytes, Dtype::f4}, begin, count);
      ASSERT_EQ(size_of_numbers({bytes, Dtype::f4}, begin, count), text.size()) << begin << " " << count;
      text.clear();
      append_numbers(text, {bytes_of_truths, Dtype::b1}, begin, count);
      ASSERT_EQ(size_of_numbers({bytes_of_truths, Dtype::b1}, begin, count), text.size()) << begin << " " << count;
    }
  }
}

}  // namespace
}  // namespace tfile
