// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_encode.h"

#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "bytes/endian.h"
#include "tfile/check.h"

namespace tfile {
namespace {

// Sixteen bytes at once, as in page_decode.cpp, of which these are the mirrored loops.
using Bytes = std::uint8_t __attribute__((vector_size(16)));
constexpr std::uint64_t kEncodedBlock = sizeof(Bytes);

// Performs `steps` inverse shuffles. Each moves the bytes with even numbers into the first half, and the others into
// the second half.
template <unsigned steps, std::size_t... Pair>
[[gnu::always_inline]] inline void unshuffle(Bytes* v, std::index_sequence<Pair...> pairs) {
  constexpr std::size_t kHalf = sizeof...(Pair);
  const Bytes even[] = {__builtin_shufflevector(v[2 * Pair], v[2 * Pair + 1], 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22,
                                                24, 26, 28, 30)...};
  const Bytes odd[] = {__builtin_shufflevector(v[2 * Pair], v[2 * Pair + 1], 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23,
                                               25, 27, 29, 31)...};
  ((v[Pair] = even[Pair], v[Pair + kHalf] = odd[Pair]), ...);
  if constexpr (steps > 1) unshuffle<steps - 1>(v, pairs);
}

// Stores kEncodedBlock integers as the i-th and following ones of a split page.
template <std::size_t kSize, std::size_t... Byte>
[[gnu::always_inline]] inline void part_block(Bytes (&v)[kSize], std::byte* page, std::uint64_t elements,
                                              std::uint64_t i, std::index_sequence<Byte...>) {
  unshuffle<std::bit_width(kSize) - 1>(v, std::make_index_sequence<kSize / 2>());
  (std::memcpy(page + Byte * elements + i, &v[Byte], kEncodedBlock), ...);
}

// The first bytes of all elements come first, then all second bytes, ...
template <class Unsigned>
void part(Unsigned value, std::byte* page, std::uint64_t elements, std::uint64_t i) {
  for (std::size_t byte = 0; byte < sizeof(Unsigned); ++byte)
    page[byte * elements + i] = static_cast<std::byte>(value >> (8 * byte));
}

// Splits the unsigned integers that `load(i)` gives: single ones, or vectors from the i-th on.
template <class Unsigned, class Load, std::size_t... Part>
void encode_split(std::uint64_t elements, std::byte* page, const Load& load, std::index_sequence<Part...> parts) {
  typedef Unsigned Numbers __attribute__((vector_size(sizeof(Bytes))));  // g++ 12 does not accept `using` for it
  constexpr std::uint64_t kEach = kEncodedBlock / sizeof(Unsigned);
  std::uint64_t i = 0;
  for (; i + kEncodedBlock <= elements; i += kEncodedBlock) {
    Bytes v[sizeof(Unsigned)] = {std::bit_cast<Bytes>(load.template at<Numbers>(i + Part * kEach))...};
    part_block(v, page, elements, i, parts);
  }
  for (; i < elements; ++i) part(load.template at<Unsigned>(i), page, elements, i);
}
template <class Unsigned, class Load>
void encode_split(std::uint64_t elements, std::span<std::byte> page, const Load& load) {
  encode_split<Unsigned>(elements, page.data(), load, std::make_index_sequence<sizeof(Unsigned)>());
}

template <class T>
T loaded(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Numbers as they are.
template <std::size_t kSize>
struct Plain {
  const std::byte* from;
  template <class T>
  T at(std::uint64_t i) const {
    return loaded<T>(from + i * kSize);
  }
};

// 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
template <std::size_t kSize>
struct Zigzag {
  const std::byte* from;
  template <class T>
  T at(std::uint64_t i) const {
    const T value = loaded<T>(from + i * kSize);
    return static_cast<T>((value << 1) ^ static_cast<T>(0 - (value >> (8 * kSize - 1))));
  }
};

// Lengths of lists, from their offsets. The first element is the end of the first list.
struct Lengths {
  const std::byte* offsets;
  std::int64_t before;  // what counts from the base to the first list
  template <class T>
  T at(std::uint64_t i) const {
    T length = loaded<T>(offsets + 8 * (i + 1)) - loaded<T>(offsets + 8 * i);
    if (i != 0) return length;
    if constexpr (sizeof(T) == 8) {
      length += static_cast<T>(before);
    } else {
      length[0] += static_cast<std::uint64_t>(before);
    }
    return length;
  }
};

// Eight booleans become the bits of a byte, the first one the lowest. Any byte but 0 counts as 1.
void encode_bits(std::span<const std::byte> booleans, std::span<std::byte> page) {
  constexpr std::uint64_t kLow = 0x7F7F7F7F7F7F7F7Full, kHigh = 0x8080808080808080ull;
  constexpr std::uint64_t kGather = 0x0002040810204081ull;  // moves the high bits of the bytes into the highest byte
  const auto packed = [](std::uint64_t eight) {
    const std::uint64_t set = (((eight & kLow) + kLow) | eight) & kHigh;
    return static_cast<std::byte>((set * kGather) >> 56);
  };
  std::size_t i = 0;
  for (; i + 8 <= booleans.size(); i += 8) page[i / 8] = packed(load_little<std::uint64_t>(booleans.data() + i));
  if (i == booleans.size()) return;
  std::uint64_t rest = 0;
  std::memcpy(&rest, booleans.data() + i, booleans.size() - i);
  page[i / 8] = packed(rest);
}

// The nearest half precision number; of two, the even one. What is too large becomes infinite.
std::uint16_t to_half(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = word >> 31 << 15;
  const std::uint32_t rest = word & 0x7FFFFFFF;
  const auto made = [sign](std::uint32_t half) { return static_cast<std::uint16_t>(sign | half); };
  constexpr std::uint32_t kInfinite = 0x7F800000, kHalfInfinite = 0x7C00, kQuiet = 0x0200;
  if (rest > kInfinite) return made(kHalfInfinite | kQuiet | ((rest >> 13) & 0x3FF));
  constexpr std::uint32_t kTooLarge = 0x477FF000, kNormal = 0x38800000;  // 65520, and 2^-14
  if (rest >= kTooLarge) return made(kHalfInfinite);
  if (rest < kNormal) {  // adding 0.5 leaves the bits of the result in the lowest ones, rounded
    const float sum = std::bit_cast<float>(rest) + 0.5F;
    return made(std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5F));
  }
  const std::uint32_t is_odd = (rest >> 13) & 1;
  return made((rest - (std::uint32_t{112} << 23) + 0xFFF + is_odd) >> 13);
}

float float_at(const std::byte* numbers, std::uint64_t i) { return load_little<float>(numbers + i * sizeof(float)); }

void encode_half(bool is_split, const std::byte* numbers, std::uint64_t elements, std::span<std::byte> page) {
  std::vector<std::uint16_t> halves(elements);
  for (std::uint64_t i = 0; i < elements; ++i) halves[i] = to_half(float_at(numbers, i));
  const auto* const from = reinterpret_cast<const std::byte*>(halves.data());
  if (is_split) return encode_split<std::uint16_t>(elements, page, Plain<2>{from});
  if (elements > 0) std::memcpy(page.data(), from, page.size());
}

// Integers of any number of bits, one after the other, the lowest bit first. `value(i)` has no bits above them.
template <class Value>
void encode_packed(unsigned bits, std::uint64_t elements, std::span<std::byte> page, Value value) {
  std::uint64_t waiting = 0;
  unsigned waiting_bits = 0;
  std::byte* out = page.data();
  for (std::uint64_t i = 0; i < elements; ++i) {
    waiting |= std::uint64_t{value(i)} << waiting_bits;
    for (waiting_bits += bits; waiting_bits >= 8; waiting_bits -= 8, waiting >>= 8)
      *out++ = static_cast<std::byte>(waiting & 0xFF);
  }
  if (waiting_bits > 0) *out = static_cast<std::byte>(waiting & 0xFF);
}

// The nearest of the values that divide the range evenly.
void encode_quantized(const PageEncoding& encoding, const std::byte* numbers, std::uint64_t elements,
                      std::span<std::byte> page) {
  const auto largest = static_cast<double>((std::uint64_t{1} << encoding.bits) - 1);
  const double scale = largest / (encoding.max - encoding.min);
  encode_packed(encoding.bits, elements, page, [&](std::uint64_t i) {
    const double value = 0.5 + (static_cast<double>(float_at(numbers, i)) - encoding.min) * scale;
    return static_cast<std::uint32_t>(value < largest ? value : largest);
  });
}

// Index columns of 32 bits, which other writers make: the ends are few beside the items.
void encode_narrow_ends(bool is_split, const std::byte* offsets, std::int64_t base, std::uint64_t elements,
                        std::byte* page) {
  for (std::uint64_t i = 0; i < elements; ++i) {
    const auto end = load_little<std::int64_t>(offsets + 8 * (i + 1));
    const std::int64_t from = is_split && i > 0 ? load_little<std::int64_t>(offsets + 8 * i) : base;
    const auto value = static_cast<std::uint32_t>(end - from);
    if (is_split) {
      part(value, page, elements, i);
    } else {
      std::memcpy(page + 4 * i, &value, sizeof value);
    }
  }
}

}  // namespace

bool can_encode(const PageEncoding& encoding, Dtype dtype) {
  switch (encoding.type) {
    case ColumnType::real16:
    case ColumnType::split_real16:
    case ColumnType::real32_trunc:
    case ColumnType::real32_quant:
      return dtype == Dtype::f4;
    case ColumnType::switch_:
      return false;
    default:
      return !is_index(encoding) && (natural_dtype(encoding) == dtype || is_plain(encoding, dtype));
  }
}

std::size_t first_out_of_range(const PageEncoding& encoding, std::span<const std::byte> numbers) {
  const std::size_t count = numbers.size() / sizeof(float);
  if (encoding.type != ColumnType::real32_quant) return count;
  std::size_t i = 0;
  for (; i < count; ++i) {
    const double value = static_cast<double>(float_at(numbers.data(), i));
    if (!(value >= encoding.min && value <= encoding.max)) break;
  }
  return i;
}

void encode_numbers(const PageEncoding& encoding, std::span<const std::byte> numbers, std::span<std::byte> page) {
  const std::byte* from = numbers.data();
  switch (encoding.type) {
    case ColumnType::bit:
      return encode_bits(numbers, page);
    case ColumnType::real16:
    case ColumnType::split_real16:
      return encode_half(encoding.type == ColumnType::split_real16, from, numbers.size() / sizeof(float), page);
    case ColumnType::real32_trunc:
      return encode_packed(encoding.bits, numbers.size() / sizeof(float), page, [&](std::uint64_t i) {
        return std::bit_cast<std::uint32_t>(float_at(from, i)) >> (32 - encoding.bits);
      });
    case ColumnType::real32_quant:
      return encode_quantized(encoding, from, numbers.size() / sizeof(float), page);
    case ColumnType::split_int16:
      return encode_split<std::uint16_t>(numbers.size() / 2, page, Zigzag<2>{from});
    case ColumnType::split_int32:
      return encode_split<std::uint32_t>(numbers.size() / 4, page, Zigzag<4>{from});
    case ColumnType::split_int64:
      return encode_split<std::uint64_t>(numbers.size() / 8, page, Zigzag<8>{from});
    case ColumnType::split_uint16:
      return encode_split<std::uint16_t>(numbers.size() / 2, page, Plain<2>{from});
    case ColumnType::split_uint32:
    case ColumnType::split_real32:
      return encode_split<std::uint32_t>(numbers.size() / 4, page, Plain<4>{from});
    case ColumnType::split_uint64:
    case ColumnType::split_real64:
      return encode_split<std::uint64_t>(numbers.size() / 8, page, Plain<8>{from});
    default:
      if (!numbers.empty()) std::memcpy(page.data(), from, numbers.size());
  }
}

void encode_ends(const PageEncoding& encoding, std::span<const std::byte> offsets, std::int64_t base,
                 std::span<std::byte> page) {
  const std::uint64_t elements = offsets.size() / 8 - 1;
  const bool is_split = encoding.type == ColumnType::split_index64 || encoding.type == ColumnType::split_index32;
  if (encoding.bits == 32) return encode_narrow_ends(is_split, offsets.data(), base, elements, page.data());
  if (is_split) {
    const std::int64_t before = load_little<std::int64_t>(offsets.data()) - base;
    return encode_split<std::uint64_t>(elements, page, Lengths{offsets.data(), before});
  }
  for (std::uint64_t i = 0; i < elements; ++i) {
    const std::int64_t end = load_little<std::int64_t>(offsets.data() + 8 * (i + 1)) - base;
    std::memcpy(page.data() + 8 * i, &end, sizeof end);
  }
}

void encode_switch(std::span<const std::byte> tags, std::span<const std::byte> positions,
                   std::span<const std::int64_t> bases, std::span<std::byte> page) {
  constexpr std::size_t kSize = 12;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const auto tag = std::to_integer<std::uint32_t>(tags[i]);
    TFILE_DCHECK(tag <= bases.size());
    const std::int64_t position = tag == 0 ? 0 : load_little<std::int64_t>(positions.data() + 8 * i) - bases[tag - 1];
    std::memcpy(page.data() + kSize * i, &position, sizeof position);
    std::memcpy(page.data() + kSize * i + sizeof position, &tag, sizeof tag);
  }
}

}  // namespace tfile
