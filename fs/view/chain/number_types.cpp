// SPDX-License-Identifier: Apache-2.0
#include "view/chain/number_types.h"

#include <algorithm>
#include <cstring>

#include "tfile/number_type.h"

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
  tfile::with_number_type(from, [&]<class From>(From) {
    tfile::with_number_type(to, [&]<class To>(To) { convert<From, To>(numbers, into, count); });
  });
}

}  // namespace tfilefs
