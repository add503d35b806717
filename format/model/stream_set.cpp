// SPDX-License-Identifier: Apache-2.0
#include "tfile/stream_set.h"

namespace tfile {

Result<Extents> extents_of_one_chunk(const StreamSet& set, StreamId stream) {
  const StreamShape shape = set.shape(stream);
  if (shape.items_from != ItemsFrom::metadata)
    return fail(ErrorKind::invalid, "extents are known only after reading the chunk");
  ExtentSum sum(shape.slots);
  if (shape.chunks > 0) sum.add(set.lengths(stream));
  return sum.take();
}

std::uint32_t first_chunk_behind(const StreamSet& set, StreamId stream, std::int64_t entry) {
  std::uint32_t low = 0, high = static_cast<std::uint32_t>(set.chunk_count(stream));
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (set.chunk_entries({stream, middle}).end <= entry)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace tfile
