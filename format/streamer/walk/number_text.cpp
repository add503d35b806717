// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/number_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include "bytes/endian.h"
#include "tfile/number_type.h"

namespace tfile {
namespace {

// The longest has 26 digits (1e25, a whole number without exponent); a real one has 15, a point, and an exponent.
using NumberText = std::array<char, 64>;

std::string_view text_of(bool value, NumberText&) { return value ? "true" : "false"; }

template <class T>
requires std::is_integral_v<T> std::string_view text_of(T value, NumberText& digits) {
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), static_cast<std::size_t>(end - digits.data())};
}

// Below this, whole numbers are those of 64 bits.
constexpr double kInteger = 9e15;

// Like ROOT: whole numbers without exponent, others with 7 or 15 digits without trailing zeros. JSON has neither
// infinity nor NaN. ROOT's reader takes null for NaN, and a number too large for a double for infinity.
template <class T>
requires std::is_floating_point_v<T> std::string_view text_of(T value, NumberText& digits) {
  constexpr bool kIsFloat = sizeof(T) == sizeof(float);
  constexpr T kPlainMax = static_cast<T>(kIsFloat ? 1e15 : 1e25);
  if (std::isnan(value)) return "null";
  if (std::isinf(value)) return value < 0 ? "-2e308" : "2e308";
  const auto wide = static_cast<double>(value);
  if (wide == std::nearbyint(wide) && std::abs(value) < kPlainMax) {
    if (std::abs(wide) < kInteger && !(wide == 0 && std::signbit(wide)))
      return text_of(static_cast<std::int64_t>(wide), digits);
    const int size = std::snprintf(digits.data(), digits.size(), "%1.0f", wide);
    return {digits.data(), static_cast<std::size_t>(size)};
  }
  // %.7g and %.15g give the digits of ROOT's %e and %.14e, without trailing zeros.
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), wide, std::chars_format::general, kIsFloat ? 7 : 15)
          .ptr;
  return {digits.data(), static_cast<std::size_t>(end - digits.data())};
}

// For numbers below kInteger. As fast as a conversion, unlike trunc(), which is called.
bool is_whole(double value) { return static_cast<double>(static_cast<std::int64_t>(value)) == value; }

std::uint64_t digits_of(std::uint64_t value) {
  std::uint64_t digits = 1;
  for (; value >= 10'000; value /= 10'000) digits += 4;
  return digits + (value >= 10) + (value >= 100) + (value >= 1000);
}

// 1, 10, 100...: as many as a Wide holds exactly.
template <class Wide>
constexpr auto powers_of_ten() {
  std::array<Wide, sizeof(Wide) == sizeof(double) ? 23 : 28> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}

// The size of what %.{kDigits}g writes of a number above 0; 0 where it is not sure, as it is so close to the middle
// between two texts. One operation in a Wide, which is wider than the digits, makes the digits a whole number.
template <class Wide, int kDigits>
std::uint64_t size_of_real(double value) {
  constexpr Wide kUnsure = 0.01, kHalf = 0.5;
  static constexpr auto kPowers = powers_of_ten<Wide>();
  constexpr int kMost = static_cast<int>(kPowers.size()) - 1;
  constexpr int kMantissaBits = 52, kBias = 1023;
  constexpr double kDecimalPerBinary = 0.30102999566398120;  // the logarithm of 2
  const int binary = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> kMantissaBits) - kBias;
  int exponent = static_cast<int>(binary * kDecimalPerBinary) - (binary < 0);
  Wide scaled = 0;
  for (;; ++exponent) {  // that may be one less than the exponent
    const int shift = kDigits - 1 - exponent;
    if (shift > kMost || shift < -kMost) return 0;
    scaled = shift >= 0 ? static_cast<Wide>(value) * kPowers[static_cast<std::size_t>(shift)]
                        : static_cast<Wide>(value) / kPowers[static_cast<std::size_t>(-shift)];
    if (scaled < kPowers[kDigits]) break;
  }
  auto digits = static_cast<std::uint64_t>(scaled);
  const Wide rest = scaled - static_cast<Wide>(digits);
  if (rest > kHalf - kUnsure && rest < kHalf + kUnsure) return 0;
  digits += rest > kHalf;
  if (static_cast<Wide>(digits) == kPowers[kDigits]) {
    digits = 1;
    ++exponent;
  }
  int count = digits == 1 ? 1 : kDigits;
  for (; count > 1 && digits % 10 == 0; --count) digits /= 10;
  const bool has_exponent = exponent < -4 || exponent >= kDigits;
  if (has_exponent) return static_cast<std::uint64_t>(count + (count > 1) + (std::abs(exponent) < 100 ? 4 : 5));
  if (exponent < 0) return static_cast<std::uint64_t>(count + 1 - exponent);  // 0.00 and the digits
  return static_cast<std::uint64_t>(count > exponent + 1 ? count + 1 : exponent + 1);
}

// The same for what text_of() writes so.
template <class T>
std::uint64_t size_of_real(T value) {
  using Wide = std::conditional_t<sizeof(T) == sizeof(float), double, long double>;
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const auto wide = static_cast<double>(std::abs(value));
  // Also of NaN, of subnormal numbers and of whole ones.
  if (!(wide >= std::numeric_limits<double>::min() && wide < kInteger) || is_whole(wide)) return 0;
  constexpr int kDigits = sizeof(T) == sizeof(float) ? 7 : 15;
  const std::uint64_t size = size_of_real<Wide, kDigits>(wide);
  return size > 0 ? size + (value < 0) : 0;
}

template <class T>
std::uint64_t text_size(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    const auto wide = static_cast<double>(value);
    // Also false for NaN. The sign of 0 is shown.
    if (wide > 0 ? wide < kInteger && is_whole(wide) : wide == 0 && !std::signbit(wide))
      if (sizeof(T) == sizeof(double) || value < static_cast<T>(1e15))
        return digits_of(static_cast<std::uint64_t>(wide));
    if (const std::uint64_t size = size_of_real(value); size > 0) return size;
  } else if constexpr (!std::is_same_v<T, bool>) {
    if (value >= 0) return digits_of(static_cast<std::uint64_t>(value));
  }
  NumberText digits;
  return text_of(value, digits).size();
}

template <class T>
T number_at(const StoredNumbers& numbers, std::size_t i) {
  using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
  if (!numbers.packing) return static_cast<T>(load_big<Stored>(numbers.bytes.data() + i * sizeof(Stored)));
  std::array<std::byte, sizeof(double)> unpacked;
  const std::size_t size = numbers.packing->stored_size();
  unpack(*numbers.packing, numbers.bytes.subspan(i * size, size), unpacked.data());
  Stored value;
  std::memcpy(&value, unpacked.data(), sizeof value);
  return static_cast<T>(value);
}

// Calls take(value) for each of them.
template <class Take>
void each_number(const StoredNumbers& numbers, std::size_t at, std::size_t count, Take take) {
  const auto all = [&]<class T>(T) {
    for (std::size_t i = at; i < at + count; ++i) take(number_at<T>(numbers, i));
  };
  with_number_type<bool>(numbers.dtype, all);
}

}  // namespace

void append_numbers(std::string& to, const StoredNumbers& numbers, std::size_t at, std::size_t count) {
  NumberText digits;
  bool is_first = true;
  each_number(numbers, at, count, [&](auto value) {
    if (!is_first) to += kNumberSeparator;
    is_first = false;
    to += text_of(value, digits);
  });
}

// Most bins of histograms of two dimensions are zero: such numbers are counted many at a time.
std::uint64_t size_of_numbers(const StoredNumbers& numbers, std::size_t at, std::size_t count) {
  constexpr std::size_t kBlock = 64;
  static constexpr std::array<std::byte, kBlock * sizeof(double)> kZeros{};
  const std::size_t item_size = numbers.packing || numbers.dtype == Dtype::b1 ? 0 : size_of(numbers.dtype);
  std::uint64_t size = count > 0 ? (count - 1) * kNumberSeparator.size() : 0;
  for (std::size_t end = at + count, many = 0; at < end; at += many) {
    many = std::min(kBlock, end - at);
    if (item_size > 0 && std::memcmp(numbers.bytes.data() + at * item_size, kZeros.data(), many * item_size) == 0)
      size += many;  // a digit for each
    else
      each_number(numbers, at, many, [&](auto value) { size += text_size(value); });
  }
  return size;
}

}  // namespace tfile
