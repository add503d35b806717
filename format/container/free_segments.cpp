// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bytes/cursor.h"
#include "container/free_list.h"
#include "container/key.h"
#include "tfile/chunk.h"

namespace tfile {

Result<std::vector<ByteRange>> read_free_segments(const Source& source, const FileHeader& header) {
  std::vector<ByteRange> segments;
  if (header.seek_free <= 0) return segments;
  const auto begin = static_cast<std::uint64_t>(header.seek_free);
  if (header.nbytes_free <= 0 || begin > source.size() ||
      static_cast<std::uint64_t>(header.nbytes_free) > source.size() - begin) {
    return fail(ErrorKind::damaged,
                "free segments: " + std::to_string(header.nbytes_free) + " bytes are not within the file of " +
                    std::to_string(source.size()) + " bytes",
                header.seek_free);
  }
  Buffer buffer(static_cast<std::size_t>(header.nbytes_free));
  TRY_VOID(read_range(source, {begin, buffer.size()}, buffer.span()));
  Cursor in(buffer.span(), header.seek_free);
  const KeyHeader key = read_key(in);
  if (in.failed() || !is_record(key))
    return fail(ErrorKind::damaged, "free segments: no record at their address: " + sizes_of(key), header.seek_free);
  in.seek(static_cast<std::uint64_t>(key.keylen), "free segments");
  while (in.left() >= 2 + 4 + 4) {
    const auto version = in.big<std::int16_t>("free segment: version");
    if (version <= 0) break;  // the record may be longer than the list; the rest is zeros
    const bool big = version > 1000;
    const std::int64_t first = big ? in.big<std::int64_t>("free segment") : in.big<std::int32_t>("free segment");
    const std::int64_t last = big ? in.big<std::int64_t>("free segment") : in.big<std::int32_t>("free segment");
    if (in.failed() || first < 0 || last < first) break;
    segments.push_back({static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last - first) + 1});
  }
  std::sort(segments.begin(), segments.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  return segments;
}

}  // namespace tfile
