// SPDX-License-Identifier: Apache-2.0
#include "container/free_list.h"

#include <algorithm>

#include "bytes/appender.h"
#include "container/key.h"

namespace tfile {
namespace {

// The version of TFree, and the step by which ROOT extends the last segment.
constexpr std::int16_t kFreeVersion = 1;
constexpr std::uint64_t kLastSegmentStep = 1'000'000'000;

void append_segment(Appender& out, std::uint64_t first, std::uint64_t last) {
  const bool wide = last > kNarrowAddressMax;
  out.big(static_cast<std::int16_t>(kFreeVersion + (wide ? kWideVersion : 0)));
  out.address(first, wide);
  out.address(last, wide);
}

}  // namespace

std::vector<std::byte> encode_free_list(std::span<const ByteRange> free, std::uint64_t end) {
  Appender out;
  for (const ByteRange& segment : free) append_segment(out, segment.begin, segment.end() - 1);
  const bool small = end < kNarrowAddressMax;
  append_segment(out, end, small ? kNarrowAddressMax : (end / kLastSegmentStep + 1) * kLastSegmentStep);
  return out.take();
}

std::vector<GapMark> gap_marks(ByteRange gap) {
  std::vector<GapMark> marks;
  while (gap.size != 0) {
    std::uint64_t size = std::min(gap.size, kNarrowAddressMax);
    // The rest must have room for a mark of its own.
    if (gap.size != size && gap.size - size < kGapSizeMin) size -= kGapSizeMin;
    marks.push_back({gap.begin, -static_cast<std::int32_t>(size)});
    gap = {gap.begin + size, gap.size - size};
  }
  return marks;
}

}  // namespace tfile
