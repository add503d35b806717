// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_decode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "bytes/endian.h"
#include "tfile/buffer.h"

namespace tfile {
namespace {

Result<> check_size(const PageEncoding& encoding, std::span<const std::byte> page, std::uint64_t elements) {
  if (page.size() == page_size(encoding, elements)) return {};
  return fail(ErrorKind::damaged,
              std::to_string(elements) + " elements in a page of " + std::to_string(page.size()) + " bytes");
}

bool is_split(ColumnType type) { return type >= ColumnType::split_int16 && type <= ColumnType::split_index64; }

// All first bytes stand first, then all second bytes, ...
template <class Unsigned>
Unsigned joined(const std::byte* page, std::uint64_t elements, std::uint64_t i) {
  Unsigned value = 0;
  for (std::size_t byte = 0; byte < sizeof(Unsigned); ++byte)
    value = static_cast<Unsigned>(
        value | static_cast<Unsigned>(std::to_integer<Unsigned>(page[byte * elements + i]) << (8 * byte)));
  return value;
}

// Calls `see(i, value)` for the unsigned integers in a page, split or not.
template <class Unsigned, class See>
void each(const PageEncoding& encoding, std::span<const std::byte> page, std::uint64_t elements, See see) {
  const std::byte* p = page.data();
  if (is_split(encoding.type)) {
    for (std::uint64_t i = 0; i < elements; ++i) see(i, joined<Unsigned>(p, elements, i));
  } else {
    for (std::uint64_t i = 0; i < elements; ++i) see(i, load_little<Unsigned>(p + i * sizeof(Unsigned)));
  }
}

// 0, 1, 2, 3, ... stand for 0, -1, 1, -2, ...
template <class Unsigned>
Unsigned without_zigzag(Unsigned value) {
  return static_cast<Unsigned>((value >> 1) ^ static_cast<Unsigned>(0 - (value & 1)));
}

// IEEE 754 half precision.
float from_half(std::uint16_t half) {
  constexpr std::uint32_t kExponentShift = 112u << 23;  // from a bias of 15 to one of 127
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = half & 0x7C00u;
  std::uint32_t bits = static_cast<std::uint32_t>(half & 0x7FFFu) << 13;
  if (exponent == 0x7C00u) return std::bit_cast<float>(sign | (bits + 2 * kExponentShift));  // infinite, or no number
  if (exponent != 0) return std::bit_cast<float>(sign | (bits + kExponentShift));
  // Below the smallest normal one: 2^-24 for each step.
  const float small = static_cast<float>(half & 0x3FFu) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(small));
}

// The i-th number of a stream of bits, the first in the lowest bits.
std::uint64_t bits_at(std::span<const std::byte> page, std::uint64_t i, unsigned bits) {
  const std::uint64_t at = i * bits;
  std::uint64_t word = 0;
  const std::size_t byte = at / 8;
  std::memcpy(&word, page.data() + byte, std::min<std::size_t>(sizeof word, page.size() - byte));
  return (word >> (at % 8)) & ((std::uint64_t{1} << bits) - 1);
}

template <class T>
void store(std::byte* out, std::uint64_t i, T value) {
  std::memcpy(out + i * sizeof value, &value, sizeof value);
}

// The elements as numbers of their own type.
void decode_natural(const PageEncoding& encoding, std::span<const std::byte> page, std::uint64_t elements,
                    std::byte* out) {
  const auto as_they_are = [out](std::uint64_t i, auto value) { store(out, i, value); };
  const auto zigzag = [out](std::uint64_t i, auto value) { store(out, i, without_zigzag(value)); };
  switch (encoding.type) {
    case ColumnType::bit:
      for (std::uint64_t i = 0; i < elements; ++i) out[i] = (page[i / 8] >> (i % 8)) & std::byte{1};
      return;
    case ColumnType::real16:
    case ColumnType::split_real16:
      return each<std::uint16_t>(encoding, page, elements,
                                 [out](std::uint64_t i, std::uint16_t half) { store(out, i, from_half(half)); });
    case ColumnType::split_int16:
      return each<std::uint16_t>(encoding, page, elements, zigzag);
    case ColumnType::split_int32:
      return each<std::uint32_t>(encoding, page, elements, zigzag);
    case ColumnType::split_int64:
      return each<std::uint64_t>(encoding, page, elements, zigzag);
    case ColumnType::split_uint16:
      return each<std::uint16_t>(encoding, page, elements, as_they_are);
    case ColumnType::split_uint32:
    case ColumnType::split_real32:
      return each<std::uint32_t>(encoding, page, elements, as_they_are);
    case ColumnType::split_uint64:
    case ColumnType::split_real64:
      return each<std::uint64_t>(encoding, page, elements, as_they_are);
    case ColumnType::real32_trunc:
      // The highest bits of a float.
      for (std::uint64_t i = 0; i < elements; ++i)
        store(out, i, static_cast<std::uint32_t>(bits_at(page, i, encoding.bits) << (32 - encoding.bits)));
      return;
    case ColumnType::real32_quant: {
      const double step = (encoding.max - encoding.min) / static_cast<double>((std::uint64_t{1} << encoding.bits) - 1);
      for (std::uint64_t i = 0; i < elements; ++i)
        store(out, i, encoding.min + static_cast<double>(bits_at(page, i, encoding.bits)) * step);
      return;
    }
    default:  // plain
      std::memcpy(out, page.data(), page.size());
  }
}

template <class See>
void with_type(Dtype dtype, See see) {
  switch (dtype) {
    case Dtype::b1:
      return see(bool());
    case Dtype::i1:
      return see(std::int8_t());
    case Dtype::u1:
      return see(std::uint8_t());
    case Dtype::i2:
      return see(std::int16_t());
    case Dtype::u2:
      return see(std::uint16_t());
    case Dtype::i4:
      return see(std::int32_t());
    case Dtype::u4:
      return see(std::uint32_t());
    case Dtype::i8:
      return see(std::int64_t());
    case Dtype::u8:
      return see(std::uint64_t());
    case Dtype::f4:
      return see(float());
    case Dtype::f8:
      return see(double());
  }
}

// What no integer can say is 0: a conversion of it has no meaning in C++.
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    // The powers of two that bound an integer are exact in both, what is next to them is not.
    const From end = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    const From least = std::is_signed_v<To> ? -end : From{0};
    const bool fits = (value >= least || value > least - 1) && value < end;
    if (!fits) return 0;
  }
  return static_cast<To>(value);
}

void convert(Dtype from, const std::byte* in, Dtype to, std::byte* out, std::uint64_t elements) {
  with_type(from, [&](auto from_value) {
    with_type(to, [&](auto to_value) {
      using From = std::conditional_t<std::is_same_v<decltype(from_value), bool>, std::uint8_t, decltype(from_value)>;
      using To = decltype(to_value);
      for (std::uint64_t i = 0; i < elements; ++i)
        store(out, i, converted<To>(load_little<From>(in + i * sizeof(From))));
    });
  });
}

template <class Unsigned>
Result<> decode_ends_of(const PageEncoding& encoding, std::span<const std::byte> page, std::uint64_t elements,
                        std::int64_t base, std::byte* out) {
  // Unsigned, as sums may wrap before anything is checked.
  std::uint64_t last = 0, sum = 0;
  bool rises = true;
  each<Unsigned>(encoding, page, elements, [&](std::uint64_t i, Unsigned value) {
    sum = is_split(encoding.type) ? sum + value : value;
    rises &= sum >= last;
    last = sum;
    store(out, i, sum + static_cast<std::uint64_t>(base));
  });
  if (!rises || last > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - base))
    return fail(ErrorKind::damaged, "the ends of its lists fall");
  return {};
}

}  // namespace

Result<> decode_numbers(const PageEncoding& encoding, std::span<const std::byte> page, std::uint64_t elements,
                        Dtype dtype, std::span<std::byte> out) {
  TRY_VOID(check_size(encoding, page, elements));
  if (is_index(encoding) || encoding.type == ColumnType::switch_)
    return fail(ErrorKind::unsupported, "an index is no number");
  if (out.size() != elements * size_of(dtype)) return fail(ErrorKind::invalid, "not as many numbers as elements");
  if (elements == 0) return {};
  const Dtype natural = natural_dtype(encoding);
  if (natural == dtype) {
    decode_natural(encoding, page, elements, out.data());
    return {};
  }
  Buffer numbers(elements * size_of(natural), Use::passing);
  decode_natural(encoding, page, elements, numbers.data());
  convert(natural, numbers.data(), dtype, out.data(), elements);
  return {};
}

Result<> decode_ends(const PageEncoding& encoding, std::span<const std::byte> page, std::uint64_t elements,
                     std::int64_t base, std::span<std::byte> out) {
  TRY_VOID(check_size(encoding, page, elements));
  if (!is_index(encoding)) return fail(ErrorKind::unsupported, "ends of lists that are no index");
  if (out.size() != elements * sizeof(std::int64_t) || base < 0)
    return fail(ErrorKind::invalid, "not as many ends as elements");
  if (encoding.bits == 32) return decode_ends_of<std::uint32_t>(encoding, page, elements, base, out.data());
  return decode_ends_of<std::uint64_t>(encoding, page, elements, base, out.data());
}

Result<> decode_switch(std::span<const std::byte> page, std::uint64_t elements, std::span<const std::int64_t> bases,
                       std::span<std::byte> tags, std::span<std::byte> positions) {
  constexpr std::uint64_t kSize = 12, kTagMax = 125;
  if (page.size() != elements * kSize || tags.size() != elements || positions.size() != elements * sizeof(std::int64_t))
    return fail(ErrorKind::damaged, "a page of a variant has not its elements");
  for (std::uint64_t i = 0; i < elements; ++i) {
    const auto position = load_little<std::uint64_t>(page.data() + i * kSize);
    const auto tag = load_little<std::uint32_t>(page.data() + i * kSize + sizeof position);
    if (tag > std::min<std::uint64_t>(bases.size(), kTagMax))
      return fail(ErrorKind::damaged, "a variant of alternative " + std::to_string(tag));
    const std::int64_t base = tag == 0 ? 0 : bases[tag - 1];
    if (position > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - base))
      return fail(ErrorKind::damaged, "a variant at an impossible position");
    tags[i] = static_cast<std::byte>(tag);
    store(positions.data(), i, tag == 0 ? 0 : base + static_cast<std::int64_t>(position));
  }
  return {};
}

}  // namespace tfile
