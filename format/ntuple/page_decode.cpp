// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_decode.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "bytes/endian.h"
#include "tfile/buffer.h"
#include "tfile/number_type.h"

namespace tfile {
namespace {

Result<> check_size(const PageEncoding& encoding, std::span<const std::byte> page, std::uint64_t elements) {
  if (page.size() == page_size(encoding, elements)) return {};
  return fail(ErrorKind::damaged,
              std::to_string(elements) + " elements in a page of " + std::to_string(page.size()) + " bytes");
}

bool is_split(ColumnType type) { return type >= ColumnType::split_int16 && type <= ColumnType::split_index64; }

// The first bytes of all elements come first, then all second bytes, ...
template <class Unsigned>
Unsigned joined(const std::byte* page, std::uint64_t elements, std::uint64_t i) {
  Unsigned value = 0;
  for (std::size_t byte = 0; byte < sizeof(Unsigned); ++byte)
    value = static_cast<Unsigned>(
        value | static_cast<Unsigned>(std::to_integer<Unsigned>(page[byte * elements + i]) << (8 * byte)));
  return value;
}

// Sixteen bytes at once: all supported processors have registers of that size.
using Bytes = std::uint8_t __attribute__((vector_size(16)));
constexpr std::uint64_t kBlock = sizeof(Bytes);

// Code for a constant number of registers has no loops and is always inlined. Otherwise, g++ 12 keeps the registers in
// memory, at half the speed.

// Performs `steps` perfect shuffles. Each interleaves the two halves: the first byte of the first half, the first of
// the second half, the second of the first half, ...
template <unsigned steps, std::size_t... Pair>
[[gnu::always_inline]] inline void shuffle(Bytes* v, std::index_sequence<Pair...> pairs) {
  constexpr std::size_t kHalf = sizeof...(Pair);
  const Bytes shuffled[] = {
      __builtin_shufflevector(v[Pair], v[Pair + kHalf], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)...,
      __builtin_shufflevector(v[Pair], v[Pair + kHalf], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                              31)...};
  ((v[2 * Pair] = shuffled[Pair], v[2 * Pair + 1] = shuffled[Pair + kHalf]), ...);
  if constexpr (steps > 1) shuffle<steps - 1>(v, pairs);
}

// Gathers the kBlock integers from the i-th on of a split page, in the order of their bytes in memory. The address of a
// byte consists of its number in the integer, then the number of the integer. Each shuffle rotates the bits of this
// address by one, until the number of the integer comes first.
template <std::size_t kSize, std::size_t... Byte>
[[gnu::always_inline]] inline void join_block(const std::byte* page, std::uint64_t elements, std::uint64_t i,
                                              Bytes (&v)[kSize], std::index_sequence<Byte...>) {
  (std::memcpy(&v[Byte], page + Byte * elements + i, kBlock), ...);
  shuffle<std::bit_width(kSize) - 1>(v, std::make_index_sequence<kSize / 2>());
}

// Applies `change` to the unsigned integers of a split page: to single ones, and to vectors of them.
template <class Unsigned, class Change, std::size_t... Part>
void decode_split(const std::byte* page, std::uint64_t elements, std::byte* out, Change change,
                  std::index_sequence<Part...> parts) {
  typedef Unsigned Numbers __attribute__((vector_size(sizeof(Bytes))));  // g++ 12 does not accept `using` for it
  std::uint64_t i = 0;
  for (; i + kBlock <= elements; i += kBlock) {
    Bytes v[sizeof(Unsigned)];
    join_block(page, elements, i, v, parts);
    const Numbers changed[] = {change(std::bit_cast<Numbers>(v[Part]))...};
    (std::memcpy(out + i * sizeof(Unsigned) + Part * kBlock, &changed[Part], kBlock), ...);
  }
  for (; i < elements; ++i) {
    const Unsigned number = change(joined<Unsigned>(page, elements, i));
    std::memcpy(out + i * sizeof number, &number, sizeof number);
  }
}
template <class Unsigned, class Change>
void decode_split(std::span<const std::byte> page, std::uint64_t elements, std::byte* out, Change change) {
  decode_split<Unsigned>(page.data(), elements, out, change, std::make_index_sequence<sizeof(Unsigned)>());
}

// Calls `see(i, value)` for the unsigned integers in a page, split or not.
template <class Unsigned, class See>
void each(const PageEncoding& encoding, std::span<const std::byte> page, std::uint64_t elements, See see) {
  const std::byte* p = page.data();
  std::uint64_t i = 0;
  if (!is_split(encoding.type)) {
    for (; i < elements; ++i) see(i, load_little<Unsigned>(p + i * sizeof(Unsigned)));
    return;
  }
  for (; i + kBlock <= elements; i += kBlock) {
    Bytes v[sizeof(Unsigned)];
    join_block(p, elements, i, v, std::make_index_sequence<sizeof(Unsigned)>());
    const auto block = std::bit_cast<std::array<Unsigned, kBlock>>(v);
    for (std::uint64_t k = 0; k < kBlock; ++k) see(i + k, block[k]);
  }
  for (; i < elements; ++i) see(i, joined<Unsigned>(p, elements, i));
}

// 0, 1, 2, 3, ... represent 0, -1, 1, -2, ...
template <class Numbers>
Numbers without_zigzag(Numbers value) {
  return static_cast<Numbers>((value >> 1) ^ static_cast<Numbers>(0 - (value & 1)));
}

// IEEE 754 half precision.
float from_half(std::uint16_t half) {
  constexpr std::uint32_t kExponentShift = 112u << 23;  // from exponent bias 15 to 127
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = half & 0x7C00u;
  std::uint32_t bits = static_cast<std::uint32_t>(half & 0x7FFFu) << 13;
  if (exponent == 0x7C00u) return std::bit_cast<float>(sign | (bits + 2 * kExponentShift));  // infinity or NaN
  if (exponent != 0) return std::bit_cast<float>(sign | (bits + kExponentShift));
  // Below the smallest normal number, one step is 2^-24.
  const float small = static_cast<float>(half & 0x3FFu) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(small));
}

// The i-th number in a stream of bits, which begins at the lowest bits.
std::uint64_t bits_at(std::span<const std::byte> page, std::uint64_t i, unsigned bits) {
  const std::uint64_t at = i * bits;
  std::uint64_t word = 0;
  const std::size_t byte = at / 8;
  if (byte + sizeof word <= page.size())
    std::memcpy(&word, page.data() + byte, sizeof word);
  else
    std::memcpy(&word, page.data() + byte, page.size() - byte);
  return (word >> (at % 8)) & ((std::uint64_t{1} << bits) - 1);
}

// Eight booleans per byte, beginning with the lowest bit.
constexpr auto kBooleans = [] {
  std::array<std::array<std::uint8_t, 8>, 256> booleans{};
  for (unsigned byte = 0; byte < 256; ++byte)
    for (unsigned bit = 0; bit < 8; ++bit) booleans[byte][bit] = (byte >> bit) & 1;
  return booleans;
}();

void decode_bits(std::span<const std::byte> page, std::uint64_t elements, std::byte* out) {
  for (std::uint64_t byte = 0; byte < elements / 8; ++byte)
    std::memcpy(out + 8 * byte, &kBooleans[std::to_integer<std::size_t>(page[byte])], 8);
  if (elements % 8 != 0)
    std::memcpy(out + elements / 8 * 8, &kBooleans[std::to_integer<std::size_t>(page[elements / 8])], elements % 8);
}

template <class T>
void store(std::byte* out, std::uint64_t i, T value) {
  std::memcpy(out + i * sizeof value, &value, sizeof value);
}

// Decodes the elements as numbers of their natural type.
void decode_natural(const PageEncoding& encoding, std::span<const std::byte> page, std::uint64_t elements,
                    std::byte* out) {
  const auto as_they_are = [](auto numbers) { return numbers; };
  const auto zigzag = [](auto numbers) { return without_zigzag(numbers); };
  switch (encoding.type) {
    case ColumnType::bit:
      return decode_bits(page, elements, out);
    case ColumnType::real16:
    case ColumnType::split_real16:
      return each<std::uint16_t>(encoding, page, elements,
                                 [out](std::uint64_t i, std::uint16_t half) { store(out, i, from_half(half)); });
    case ColumnType::split_int16:
      return decode_split<std::uint16_t>(page, elements, out, zigzag);
    case ColumnType::split_int32:
      return decode_split<std::uint32_t>(page, elements, out, zigzag);
    case ColumnType::split_int64:
      return decode_split<std::uint64_t>(page, elements, out, zigzag);
    case ColumnType::split_uint16:
      return decode_split<std::uint16_t>(page, elements, out, as_they_are);
    case ColumnType::split_uint32:
    case ColumnType::split_real32:
      return decode_split<std::uint32_t>(page, elements, out, as_they_are);
    case ColumnType::split_uint64:
    case ColumnType::split_real64:
      return decode_split<std::uint64_t>(page, elements, out, as_they_are);
    case ColumnType::real32_trunc:
      // Only the highest bits of a float are stored.
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

// A number that the integer type cannot hold becomes 0, since its conversion is undefined in C++.
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    // The powers of two at the bounds of an integer type are exact in both types, unlike the numbers next to them.
    const From end = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    const From least = std::is_signed_v<To> ? -end : From{0};
    const bool fits = (value >= least || value > least - 1) && value < end;
    if (!fits) return 0;
  }
  return static_cast<To>(value);
}

void convert(Dtype from, const std::byte* in, Dtype to, std::byte* out, std::uint64_t elements) {
  with_number_type(from, [&](auto from_value) {
    with_number_type<bool>(to, [&](auto to_value) {
      using From = decltype(from_value);
      using To = decltype(to_value);
      for (std::uint64_t i = 0; i < elements; ++i)
        store(out, i, converted<To>(load_little<From>(in + i * sizeof(From))));
    });
  });
}

// The error of ends that fall, or rise above the largest number, by which they fall as well.
tl::unexpected<Error> falling_ends(const std::byte* ends, std::uint64_t elements, std::int64_t base) {
  std::int64_t before = base, end = base;
  std::uint64_t i = 0;
  for (; i < elements && end >= before; ++i) {
    before = end;
    end = load_little<std::int64_t>(ends + i * sizeof end);
  }
  return fail(ErrorKind::damaged, "list offsets decrease at element " + std::to_string(i - 1) + ": " +
                                      std::to_string(end) + " after " + std::to_string(before));
}

template <class Unsigned>
Result<> decode_ends_of(const PageEncoding& encoding, std::span<const std::byte> page, std::uint64_t elements,
                        std::int64_t base, std::byte* out) {
  // Unsigned, since sums may wrap before they are checked.
  std::uint64_t last = 0, sum = 0;
  bool rises = true;
  each<Unsigned>(encoding, page, elements, [&](std::uint64_t i, Unsigned value) {
    sum = is_split(encoding.type) ? sum + value : value;
    rises &= sum >= last;
    last = sum;
    store(out, i, sum + static_cast<std::uint64_t>(base));
  });
  if (!rises || last > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - base))
    return falling_ends(out, elements, base);
  return {};
}

}  // namespace

Result<> decode_numbers(const PageEncoding& encoding, std::span<const std::byte> page, std::uint64_t elements,
                        Dtype dtype, std::span<std::byte> out) {
  TRY_VOID(check_size(encoding, page, elements));
  if (is_index(encoding) || encoding.type == ColumnType::switch_)
    return fail(ErrorKind::unsupported, "column has index type " + std::to_string(static_cast<int>(encoding.type)) +
                                            ", expected a number type");
  if (out.size() != elements * size_of(dtype))
    return fail(ErrorKind::invalid, "number of values differs from number of elements");
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
  if (!is_index(encoding))
    return fail(ErrorKind::unsupported, "offsets column has type " + std::to_string(static_cast<int>(encoding.type)) +
                                            ", expected an index type");
  if (out.size() != elements * sizeof(std::int64_t) || base < 0)
    return fail(ErrorKind::invalid, "number of offsets differs from number of elements");
  if (encoding.bits == 32) return decode_ends_of<std::uint32_t>(encoding, page, elements, base, out.data());
  return decode_ends_of<std::uint64_t>(encoding, page, elements, base, out.data());
}

Result<> decode_switch(std::span<const std::byte> page, std::uint64_t elements, std::span<const std::int64_t> bases,
                       std::span<std::byte> tags, std::span<std::byte> positions) {
  constexpr std::uint64_t kSize = 12, kTagMax = 125;
  if (page.size() != elements * kSize || tags.size() != elements || positions.size() != elements * sizeof(std::int64_t))
    return fail(ErrorKind::damaged, "variant page has " + std::to_string(page.size()) + " bytes, expected " +
                                        std::to_string(elements * kSize));
  for (std::uint64_t i = 0; i < elements; ++i) {
    const auto position = load_little<std::uint64_t>(page.data() + i * kSize);
    const auto tag = load_little<std::uint32_t>(page.data() + i * kSize + sizeof position);
    if (tag > std::min<std::uint64_t>(bases.size(), kTagMax))
      return fail(ErrorKind::damaged, "variant " + std::to_string(i) + " has alternative " + std::to_string(tag) +
                                          " of " + std::to_string(bases.size()));
    const std::int64_t base = tag == 0 ? 0 : bases[tag - 1];
    if (position > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - base))
      return fail(ErrorKind::damaged, "variant " + std::to_string(i) + " is at position " + std::to_string(position) +
                                          ", after " + std::to_string(base));
    tags[i] = static_cast<std::byte>(tag);
    store(positions.data(), i, tag == 0 ? 0 : base + static_cast<std::int64_t>(position));
  }
  return {};
}

}  // namespace tfile
