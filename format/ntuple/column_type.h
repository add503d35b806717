// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tfile/node.h"
#include "tfile/result.h"

namespace tfile {

// How the elements of an RNTuple's column are stored, by the codes in the file ("Column Description").
enum class ColumnType : std::uint16_t {
  bit,
  byte,
  character,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  real16,
  real32,
  real64,
  index32,
  index64,
  switch_,
  split_int16,
  split_uint16,
  split_int32,
  split_uint32,
  split_int64,
  split_uint64,
  split_real16,
  split_real32,
  split_real64,
  split_index32,
  split_index64,
  real32_trunc,
  real32_quant,
};

struct PageEncoding {
  ColumnType type = ColumnType::bit;
  std::uint16_t bits = 1;   // per element
  double min = 0, max = 0;  // real32_quant: the range that its integers cover
};

// Errors: unsupported (an unknown type, or a wrong number of bits for the type).
Result<PageEncoding> page_encoding(std::uint16_t type, std::uint16_t bits, double min, double max);

// The dtype of an element regardless of its field; i8 for an index or switch.
Dtype natural_dtype(const PageEncoding&);

// Whether the elements in a page are stored as numbers of this dtype.
bool is_plain(const PageEncoding&, Dtype);

// Whether the column has ends of lists.
bool is_index(const PageEncoding&);

// The decompressed size of a page with that many elements, which must be fewer than 2^32.
std::uint64_t page_size(const PageEncoding&, std::uint64_t elements);

}  // namespace tfile
