// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "ntuple/column_type.h"

namespace tfile {

// From arrays to the bytes of a page before compression: the reverse of ntuple/page_decode.h, with the same arrays. All
// functions are pure. `page` has page_size() bytes.

// Whether numbers of `dtype` can be encoded: without a loss, or f4 with fewer bits.
bool can_encode(const PageEncoding&, Dtype);

// The place of the first of these numbers that the encoding has no value for, as it is outside of its range; as many as
// there are, if there is none.
std::size_t first_out_of_range(const PageEncoding&, std::span<const std::byte> numbers);

// Encodes numbers for which can_encode() holds, and that are in range. `numbers` has as many as the page has elements.
void encode_numbers(const PageEncoding&, std::span<const std::byte> numbers, std::span<std::byte> page);

// Encodes the ends of lists for an index column. `offsets`: where the first list begins, then the end of each, as i8;
// they must not decrease. `base`: the offset that counts as 0, at most the first one.
void encode_ends(const PageEncoding&, std::span<const std::byte> offsets, std::int64_t base, std::span<std::byte> page);

// Encodes a switch column from tags (i1) and positions (i8), which count from bases[tag - 1], the base of their
// alternative. The tags must not be above the number of bases.
void encode_switch(std::span<const std::byte> tags, std::span<const std::byte> positions,
                   std::span<const std::int64_t> bases, std::span<std::byte> page);

}  // namespace tfile
