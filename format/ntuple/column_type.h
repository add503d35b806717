// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tfile/node.h"
#include "tfile/result.h"

namespace tfile {

// How the elements of a column of an RNTuple are stored, by the codes on disk ("Column Description").
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
  std::uint16_t bits = 1;   // of an element
  double min = 0, max = 0;  // real32_quant: of what its integers stand for
};

// Errors: unsupported (a type that is not known, or not of so many bits).
Result<PageEncoding> page_encoding(std::uint16_t type, std::uint16_t bits, double min, double max);

// The number that an element is, whatever field it belongs to; i8 of an index or switch.
Dtype natural_dtype(const PageEncoding&);

// Whether the elements in a page are numbers of this type as they lie there.
bool is_plain(const PageEncoding&, Dtype);

// Whether it holds ends of lists.
bool is_index(const PageEncoding&);

// Bytes of a page of so many elements, decompressed; elements are fewer than 2^32.
std::uint64_t page_size(const PageEncoding&, std::uint64_t elements);

}  // namespace tfile
