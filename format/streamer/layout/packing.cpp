// SPDX-License-Identifier: Apache-2.0
#include "streamer/layout/packing.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "bytes/endian.h"
#include "streamer/layout/unpack_loop.h"

namespace tfile {

#if defined(__x86_64__)
void unpack_avx2(const Packing& packing, const std::byte* from, std::byte* to, std::size_t count);
#endif

namespace {

// Float16_t without a range keeps 12 bits of mantissa.
constexpr std::uint32_t kFloat16Bits = 12;
// With more bits, a truncated mantissa would not fit into its 16 bits; ROOT then ignores the range.
constexpr int kTruncatedBitsEnd = 15;

// The text between the brackets of a range: the first pair with a comma inside, since a dimension may precede it.
std::optional<std::string_view> range_text(std::string_view title) {
  const auto open = title.find('[');
  if (open == title.npos) return std::nullopt;
  const auto close = title.find(']', open);
  if (close == title.npos) return std::nullopt;
  const auto inside = title.substr(open + 1, close - open - 1);
  if (inside.find(',') != inside.npos) return inside;
  const auto open2 = title.find('[', close);
  if (open2 == title.npos) return std::nullopt;
  const auto close2 = title.find(']', open2);
  if (close2 == title.npos) return std::nullopt;
  const auto inside2 = title.substr(open2 + 1, close2 - open2 - 1);
  if (inside2.find(',') == inside2.npos) return std::nullopt;
  return inside2;
}

// A number, or one of the multiples of pi that ROOT accepts.
double range_limit(std::string_view text) {
  std::string t;
  for (char c : text) {
    if (c != ' ') t += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  if (t.find("pi") == t.npos) return std::strtod(t.c_str(), nullptr);
  double value = std::numbers::pi;
  if (t.find("2pi") != t.npos || t.find("2*pi") != t.npos || t.find("twopi") != t.npos) value = 2 * std::numbers::pi;
  if (t.find("pi/2") != t.npos) value = std::numbers::pi / 2;
  if (t.find("pi/4") != t.npos) value = std::numbers::pi / 4;
  return t.find('-') != t.npos ? -value : value;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == text.npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

using UnpackFunction = void (*)(const Packing&, const std::byte*, std::byte*, std::size_t);

void unpack_plain(const Packing& packing, const std::byte* from, std::byte* to, std::size_t count) {
  unpack_any(packing, from, to, count);
}

// Chosen at run time, as in bytes/swap.cpp.
UnpackFunction pick() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return unpack_avx2;
#endif
  return unpack_plain;
}

const UnpackFunction kUnpack = pick();

double number_at(const Packing& packing, std::span<const std::byte> numbers, std::size_t i) {
  if (packing.to_double) return load_little<double>(numbers.data() + i * sizeof(double));
  return static_cast<double>(load_little<float>(numbers.data() + i * sizeof(float)));
}

std::size_t count_of(const Packing& packing, std::span<const std::byte> numbers) {
  return numbers.size() / (packing.to_double ? sizeof(double) : sizeof(float));
}

void pack_truncated(std::uint32_t bits, float number, std::byte* to) {
  constexpr std::uint32_t kMantissaBits = 23;
  const auto raw = std::bit_cast<std::uint32_t>(number);
  // One bit more than is kept, which rounds; what would become a larger exponent stays below it.
  const std::uint32_t half_bits = (raw >> (kMantissaBits - bits - 1)) & ((1u << (bits + 1)) - 1);
  std::uint32_t mantissa = std::min((half_bits + 1) >> 1, (1u << bits) - 1);
  if (number < 0) mantissa |= 1u << (bits + 1);
  *to = static_cast<std::byte>(raw >> kMantissaBits);
  store_big(to + 1, static_cast<std::uint16_t>(mantissa));
}

}  // namespace

Packing parse_packing(std::string_view title, bool to_double) {
  Packing packing;
  packing.to_double = to_double;
  if (!to_double) {
    packing.kind = Packing::Kind::truncated;
    packing.bits = kFloat16Bits;
  }
  const auto text = range_text(title);
  if (!text) return packing;
  const auto parts = split_at_commas(*text);
  double minimum = range_limit(parts[0]);
  const double maximum = range_limit(parts[1]);
  int bits = parts.size() > 2 ? std::atoi(std::string(parts[2]).c_str()) : 32;
  if (bits < 2 || bits > 32) bits = 32;
  if (minimum < maximum) {
    packing.kind = Packing::Kind::ranged;
    packing.minimum = minimum;
    packing.maximum = maximum;
    packing.factor = (bits < 32 ? static_cast<double>(1u << bits) : 4294967295.0) / (maximum - minimum);
    return packing;
  }
  if (bits < kTruncatedBitsEnd) minimum = bits;
  if (const int kept = static_cast<int>(minimum); kept > 0 && kept < kTruncatedBitsEnd) {
    packing.kind = Packing::Kind::truncated;
    packing.bits = static_cast<std::uint32_t>(kept);
  }
  return packing;
}

void unpack(const Packing& packing, std::span<const std::byte> stored, std::byte* to) {
  kUnpack(packing, stored.data(), to, stored.size() / packing.stored_size());
}

void pack(const Packing& packing, std::span<const std::byte> numbers, std::byte* to) {
  const std::size_t count = count_of(packing, numbers), size = packing.stored_size();
  for (std::size_t i = 0; i < count; ++i, to += size) {
    const double number = number_at(packing, numbers, i);
    switch (packing.kind) {
      case Packing::Kind::plain_float:
        store_big(to, static_cast<float>(number));
        break;
      case Packing::Kind::truncated:
        pack_truncated(packing.bits, static_cast<float>(number), to);
        break;
      case Packing::Kind::ranged: {
        // A number that is none compares with nothing.
        const double kept = number > packing.minimum ? std::min(number, packing.maximum) : packing.minimum;
        store_big(to, static_cast<std::uint32_t>(0.5 + packing.factor * (kept - packing.minimum)));
      }
    }
  }
}

std::optional<std::size_t> first_beyond(const Packing& packing, std::span<const std::byte> numbers) {
  if (packing.kind != Packing::Kind::ranged) return std::nullopt;
  for (std::size_t i = 0; i < count_of(packing, numbers); ++i) {
    const double number = number_at(packing, numbers, i);
    if (!(number >= packing.minimum && number <= packing.maximum)) return i;
  }
  return std::nullopt;
}

}  // namespace tfile
