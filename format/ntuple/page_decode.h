// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "ntuple/column_type.h"

namespace tfile {

// From the decompressed bytes of a page to arrays. All functions are pure. Errors of all: damaged (the page does not
// have the size of its elements).

// The elements as little-endian numbers of `dtype`, the type of the field. `out` has room for all. A number that does
// not fit is converted as in C++. Errors: unsupported for an index or switch.
Result<> decode_numbers(const PageEncoding&, std::span<const std::byte> page, std::uint64_t elements, Dtype dtype,
                        std::span<std::byte> out);

// The ends in an index column as i8, counted from `base`. Errors: damaged (they decrease or are negative).
Result<> decode_ends(const PageEncoding&, std::span<const std::byte> page, std::uint64_t elements, std::int64_t base,
                     std::span<std::byte> out);

// The elements of a switch column: tags as i1, where 0 means none; and positions as i8, which count from bases[tag -
// 1], the base of their alternative. Errors: damaged (a tag without a base, an impossible position).
Result<> decode_switch(std::span<const std::byte> page, std::uint64_t elements, std::span<const std::int64_t> bases,
                       std::span<std::byte> tags, std::span<std::byte> positions);

}  // namespace tfile
