// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tfile/file.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// The file's free list (docs/format.md, "Gaps and the free list"), sorted by address. The last segment begins at fEND
// and ends far past it. Empty if the header has no list. Errors: damaged, io. Reads.
Result<std::vector<ByteRange>> read_free_segments(const Source& source, const FileHeader& header);

// A gap holds at least its negative length.
inline constexpr std::uint64_t kGapSizeMin = 4;

// The payload of the free list: `free`, which is sorted, then the segment from `end` on. As in ROOT, that segment ends
// at 2,000,000,000 or, in a larger file, at the next multiple of 1,000,000,000.
std::vector<std::byte> encode_free_list(std::span<const ByteRange> free, std::uint64_t end);

// The negative lengths with which a walk over the records skips `gap` (at least kGapSizeMin bytes): one, or several for
// a gap above 2,000,000,000 bytes. Addresses are in the file.
struct GapMark {
  std::uint64_t address = 0;
  std::int32_t length = 0;  // negative
};
std::vector<GapMark> gap_marks(ByteRange gap);

}  // namespace tfile
