// SPDX-License-Identifier: Apache-2.0
#include "view/chain/number_types.h"

#include <algorithm>
#include <cstring>

namespace tfilefs {
namespace {

using tfile::Dtype;

bool is_float(Dtype type) { return type == Dtype::f4 || type == Dtype::f8; }
bool is_signed(Dtype type) { return type == Dtype::i1 || type == Dtype::i2 || type == Dtype::i4 || type == Dtype::i8; }

Dtype integer_of(std::size_t size, bool with_sign) {
  switch (size) {
    case 1:
      return with_sign ? Dtype::i1 : Dtype::u1;
    case 2:
      return with_sign ? Dtype::i2 : Dtype::u2;
    case 4:
      return with_sign ? Dtype::i4 : Dtype::u4;
    default:
      return with_sign ? Dtype::i8 : Dtype::u8;
  }
}

template <class From, class To>
void convert(const std::byte* numbers, std::byte* into, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    From from;
    std::memcpy(&from, numbers + i * sizeof from, sizeof from);
    const auto to = static_cast<To>(from);
    std::memcpy(into + i * sizeof to, &to, sizeof to);
  }
}

template <class From>
void convert_to(const std::byte* numbers, std::byte* into, Dtype to, std::size_t count) {
  switch (to) {
    case Dtype::b1:
    case Dtype::u1:
      return convert<From, std::uint8_t>(numbers, into, count);
    case Dtype::i1:
      return convert<From, std::int8_t>(numbers, into, count);
    case Dtype::u2:
      return convert<From, std::uint16_t>(numbers, into, count);
    case Dtype::i2:
      return convert<From, std::int16_t>(numbers, into, count);
    case Dtype::u4:
      return convert<From, std::uint32_t>(numbers, into, count);
    case Dtype::i4:
      return convert<From, std::int32_t>(numbers, into, count);
    case Dtype::u8:
      return convert<From, std::uint64_t>(numbers, into, count);
    case Dtype::i8:
      return convert<From, std::int64_t>(numbers, into, count);
    case Dtype::f4:
      return convert<From, float>(numbers, into, count);
    case Dtype::f8:
      return convert<From, double>(numbers, into, count);
  }
}

}  // namespace

std::optional<Dtype> common_type(std::span<const Dtype> types) {
  if (types.empty()) return std::nullopt;
  if (std::all_of(types.begin(), types.end(), [&](Dtype type) { return type == types[0]; })) return types[0];
  std::size_t signed_size = 0, unsigned_size = 0;
  bool any_float = false;
  for (const Dtype type : types) {
    if (type == Dtype::b1) return std::nullopt;
    if (is_float(type))
      any_float = true;
    else if (is_signed(type))
      signed_size = std::max(signed_size, size_of(type));
    else
      unsigned_size = std::max(unsigned_size, size_of(type));
  }
  const std::size_t largest = std::max(signed_size, unsigned_size);
  if (any_float) return largest <= 4 ? std::optional(Dtype::f8) : std::nullopt;
  if (signed_size == 0) return integer_of(unsigned_size, false);
  const std::size_t needed = std::max(signed_size, 2 * unsigned_size);
  return needed <= 8 ? std::optional(integer_of(needed, true)) : std::nullopt;
}

void widen(const std::byte* numbers, Dtype from, std::byte* into, Dtype to, std::size_t count) {
  switch (from) {
    case Dtype::b1:
    case Dtype::u1:
      return convert_to<std::uint8_t>(numbers, into, to, count);
    case Dtype::i1:
      return convert_to<std::int8_t>(numbers, into, to, count);
    case Dtype::u2:
      return convert_to<std::uint16_t>(numbers, into, to, count);
    case Dtype::i2:
      return convert_to<std::int16_t>(numbers, into, to, count);
    case Dtype::u4:
      return convert_to<std::uint32_t>(numbers, into, to, count);
    case Dtype::i4:
      return convert_to<std::int32_t>(numbers, into, to, count);
    case Dtype::u8:
      return convert_to<std::uint64_t>(numbers, into, to, count);
    case Dtype::i8:
      return convert_to<std::int64_t>(numbers, into, to, count);
    case Dtype::f4:
      return convert_to<float>(numbers, into, to, count);
    case Dtype::f8:
      return convert_to<double>(numbers, into, to, count);
  }
}

}  // namespace tfilefs
