// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tfile/range.h"

namespace tfile {

// A gap holds at least its negative length.
inline constexpr std::uint64_t kGapSizeMin = 4;

// The payload of the list of free segments: `free`, sorted, then the stretch from `end` on. Its last address is ROOT's:
// 2,000,000,000, or behind a larger file the next multiple of 1,000,000,000.
std::vector<std::byte> encode_free_list(std::span<const ByteRange> free, std::uint64_t end);

// The negative lengths that tell a walk over the records to step over `gap` (of at least kGapSizeMin bytes): one, or of
// a gap above 2,000,000,000 bytes several. Addresses in the file.
struct GapMark {
  std::uint64_t address = 0;
  std::int32_t length = 0;  // negative
};
std::vector<GapMark> gap_marks(ByteRange gap);

}  // namespace tfile
