// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_encode.h"

#include <bit>
#include <cstring>
#include <utility>

#include "bytes/endian.h"

namespace tfile {
namespace {

// Sixteen bytes at once, as in page_decode.cpp, of which these are the mirrored loops.
using Bytes = std::uint8_t __attribute__((vector_size(16)));
constexpr std::uint64_t kBlock = sizeof(Bytes);

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

// Stores kBlock integers as the i-th and following ones of a split page.
template <std::size_t kSize, std::size_t... Byte>
[[gnu::always_inline]] inline void part_block(Bytes (&v)[kSize], std::byte* page, std::uint64_t elements,
                                              std::uint64_t i, std::index_sequence<Byte...>) {
  unshuffle<std::bit_width(kSize) - 1>(v, std::make_index_sequence<kSize / 2>());
  (std::memcpy(page + Byte * elements + i, &v[Byte], kBlock), ...);
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
  constexpr std::uint64_t kEach = kBlock / sizeof(Unsigned);
  std::uint64_t i = 0;
  for (; i + kBlock <= elements; i += kBlock) {
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
    case ColumnType::switch_:
      return false;
    default:
      return !is_index(encoding) && (natural_dtype(encoding) == dtype || is_plain(encoding, dtype));
  }
}

void encode_numbers(const PageEncoding& encoding, std::span<const std::byte> numbers, std::span<std::byte> page) {
  const std::byte* from = numbers.data();
  switch (encoding.type) {
    case ColumnType::bit:
      return encode_bits(numbers, page);
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
    const std::int64_t position = tag == 0 ? 0 : load_little<std::int64_t>(positions.data() + 8 * i) - bases[tag - 1];
    std::memcpy(page.data() + kSize * i, &position, sizeof position);
    std::memcpy(page.data() + kSize * i + sizeof position, &tag, sizeof tag);
  }
}

}  // namespace tfile
