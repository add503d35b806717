// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "ntuple/column_type.h"

namespace tfile {

// From the decompressed bytes of a page to arrays. Pure; nothing here reads or keeps anything. Errors of all: damaged
// (a page that has not the bytes of its elements).

// The elements as little-endian numbers of `dtype`, which is the field's: `out` has as many. Where a number does not
// fit, it is what a C++ conversion makes of it. Errors: unsupported for an index or switch.
Result<> decode_numbers(const PageEncoding&, std::span<const std::byte> page, std::uint64_t elements, Dtype dtype,
                        std::span<std::byte> out);

// The ends of an index column, counted from `base`, as i8. Errors: damaged where they fall or are negative.
Result<> decode_ends(const PageEncoding&, std::span<const std::byte> page, std::uint64_t elements, std::int64_t base,
                     std::span<std::byte> out);

// The elements of a switch column: tags as i1, where 0 is none, and positions as i8, which count from the base of their
// alternative: bases[tag - 1]. Errors: damaged (a tag for which there is no base, a position that cannot be).
Result<> decode_switch(std::span<const std::byte> page, std::uint64_t elements, std::span<const std::int64_t> bases,
                       std::span<std::byte> tags, std::span<std::byte> positions);

}  // namespace tfile
