// SPDX-License-Identifier: Apache-2.0
#include "ntuple/column_type.h"

#include <cmath>
#include <iterator>
#include <string>

#include "tfile/check.h"

namespace tfile {
namespace {

struct TypeRow {
  std::uint16_t bits_min, bits_max;
  Dtype natural;
  bool is_plain;  // little-endian numbers, one after the other
};

// By the code on disk.
constexpr TypeRow kTypes[] = {
    {1, 1, Dtype::b1, false},    // bit
    {8, 8, Dtype::u1, true},     // byte
    {8, 8, Dtype::i1, true},     // character
    {8, 8, Dtype::i1, true},     // int8
    {8, 8, Dtype::u1, true},     // uint8
    {16, 16, Dtype::i2, true},   // int16
    {16, 16, Dtype::u2, true},   // uint16
    {32, 32, Dtype::i4, true},   // int32
    {32, 32, Dtype::u4, true},   // uint32
    {64, 64, Dtype::i8, true},   // int64
    {64, 64, Dtype::u8, true},   // uint64
    {16, 16, Dtype::f4, false},  // real16
    {32, 32, Dtype::f4, true},   // real32
    {64, 64, Dtype::f8, true},   // real64
    {32, 32, Dtype::i8, false},  // index32
    {64, 64, Dtype::i8, false},  // index64
    {96, 96, Dtype::i8, false},  // switch
    {16, 16, Dtype::i2, false},  // split_int16
    {16, 16, Dtype::u2, false},  // split_uint16
    {32, 32, Dtype::i4, false},  // split_int32
    {32, 32, Dtype::u4, false},  // split_uint32
    {64, 64, Dtype::i8, false},  // split_int64
    {64, 64, Dtype::u8, false},  // split_uint64
    {16, 16, Dtype::f4, false},  // split_real16
    {32, 32, Dtype::f4, false},  // split_real32
    {64, 64, Dtype::f8, false},  // split_real64
    {32, 32, Dtype::i8, false},  // split_index32
    {64, 64, Dtype::i8, false},  // split_index64
    {10, 31, Dtype::f4, false},  // real32_trunc
    {1, 32, Dtype::f8, false},   // real32_quant
};

const TypeRow& row(const PageEncoding& encoding) { return kTypes[static_cast<std::size_t>(encoding.type)]; }

}  // namespace

Result<PageEncoding> page_encoding(std::uint16_t type, std::uint16_t bits, double min, double max) {
  if (type >= std::size(kTypes)) return fail(ErrorKind::unsupported, "unknown column type " + std::to_string(type));
  if (bits < kTypes[type].bits_min || bits > kTypes[type].bits_max)
    return fail(ErrorKind::unsupported,
                "column type " + std::to_string(type) + " is not supported with " + std::to_string(bits) + " bits");
  const PageEncoding encoding{static_cast<ColumnType>(type), bits, min, max};
  if (encoding.type == ColumnType::real32_quant && !(std::isfinite(min) && std::isfinite(max)))
    return fail(ErrorKind::unsupported, "its column has no range");
  return encoding;
}

Dtype natural_dtype(const PageEncoding& encoding) { return row(encoding).natural; }

bool is_plain(const PageEncoding& encoding, Dtype dtype) {
  if (!row(encoding).is_plain) return false;
  // An integer of one byte is stored in the same way with or without sign.
  if (encoding.bits == 8) return dtype == Dtype::i1 || dtype == Dtype::u1;
  return row(encoding).natural == dtype;
}

bool is_index(const PageEncoding& encoding) {
  return encoding.type == ColumnType::index32 || encoding.type == ColumnType::index64 ||
         encoding.type == ColumnType::split_index32 || encoding.type == ColumnType::split_index64;
}

std::uint64_t page_size(const PageEncoding& encoding, std::uint64_t elements) {
  TFILE_DCHECK(elements <= UINT32_MAX);
  return (elements * encoding.bits + 7) / 8;
}

}  // namespace tfile
