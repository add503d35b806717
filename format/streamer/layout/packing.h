// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tfile {

// How a Double32_t or Float16_t is stored (docs/format.md, "Double32_t and Float16_t").
struct Packing {
  enum class Kind : std::uint8_t {
    plain_float,  // 4 bytes, a float
    truncated,    // 3 bytes: exponent, then sign and `bits` of mantissa
    ranged,       // 4 bytes: minimum + n / factor
  };
  Kind kind = Kind::plain_float;
  std::uint32_t bits = 0;
  double minimum = 0, maximum = 0, factor = 1;
  bool to_double = false;  // Double32_t gives f8, Float16_t f4
  std::size_t stored_size() const { return kind == Kind::truncated ? 3 : 4; }
};

// Parses the "[min,max]" or "[min,max,bits]" in a leaf's title or an element's comment, as TStreamerElement does.
// Without one, the default of the type (`to_double`: Double32_t, else Float16_t).
Packing parse_packing(std::string_view title, bool to_double);

// Unpacks stored.size() / stored_size() numbers to `to` (doubles or floats, native byte order).
void unpack(const Packing&, std::span<const std::byte> stored, std::byte* to);

// Packs doubles or floats, as TBuffer::WriteDouble32 and WriteFloat16 do, to `to`, which has room for them. What is
// beyond a range becomes its end, what is no number its beginning.
void pack(const Packing&, std::span<const std::byte> numbers, std::byte* to);

// The number of the first that its range does not have; nothing if there is none.
std::optional<std::size_t> first_beyond(const Packing&, std::span<const std::byte> numbers);

}  // namespace tfile
