// SPDX-License-Identifier: Apache-2.0
#include "container/record_walk.h"

#include <algorithm>

#include "bytes/cursor.h"
#include "container/free_list.h"
#include "tfile/chunk.h"

namespace tfile {
namespace {

// A window on the source. It grows while records follow each other closely, and shrinks if they are far apart. Thus
// close records share a read, and distant ones read little more than their keys.
class Window {
 public:
  Window(const Source& source, std::uint64_t end) : source_(source), end_(end) {}

  // At least `size` bytes at `position`, or fewer if the end is nearer.
  Result<std::span<const std::byte>> at(std::uint64_t position, std::size_t size) {
    size = static_cast<std::size_t>(std::min<std::uint64_t>(size, end_ - position));
    if (position < begin_ || position + size > begin_ + buffer_.size()) {
      const bool near = position >= begin_ && position < begin_ + 2 * buffer_.size();
      const std::size_t wanted = near ? std::min(2 * buffer_.size(), kSizeMax) : kKeySizeGuess;
      const std::size_t chosen =
          static_cast<std::size_t>(std::min<std::uint64_t>(std::max(wanted, size), end_ - position));
      Buffer fresh(chosen);
      TRY_VOID(read_range(source_, {position, chosen}, fresh.span()));
      buffer_ = std::move(fresh);
      begin_ = position;
    }
    return buffer_.span().subspan(position - begin_);
  }

 private:
  static constexpr std::size_t kSizeMax = 256 << 10;
  const Source& source_;
  const std::uint64_t end_;
  std::uint64_t begin_ = 0;
  Buffer buffer_;
};

// A gap holds its negative length.

std::uint64_t free_end_after(std::span<const ByteRange> segments, std::uint64_t position) {
  auto next = std::upper_bound(segments.begin(), segments.end(), position,
                               [](std::uint64_t p, const ByteRange& segment) { return p < segment.begin; });
  if (next == segments.begin()) return position;
  return std::max(position, (next - 1)->end());
}

// The step at `position`.
Result<WalkStep> step_at(Window& window, std::uint64_t position, std::uint64_t end,
                         std::span<const ByteRange> free_segments) {
  const auto gap = [&](std::uint64_t size) {
    return WalkStep{WalkStep::Kind::gap, {position, std::min(size, end - position)}, {}};
  };
  const std::uint64_t free_end = free_end_after(free_segments, position);
  const bool is_free = free_end > position;
  const WalkStep no_record =
      is_free ? gap(free_end - position) : WalkStep{WalkStep::Kind::lost, {position, end - position}, {}};

  TRY(std::span<const std::byte> bytes, window.at(position, kKeySizeGuess));
  if (bytes.size() < sizeof(std::int32_t)) return no_record;
  const std::int64_t length = load_big<std::int32_t>(bytes.data());
  // uproot does not clear the bytes that it frees, and these may look like a length.
  if (length <= -static_cast<std::int64_t>(kGapSizeMin)) {
    const auto marked = static_cast<std::uint64_t>(-length);
    return gap(is_free ? std::min(marked, free_end - position) : marked);
  }
  Cursor in(bytes, static_cast<std::int64_t>(position));
  KeyHeader key = read_key(in);
  if (in.failed() && key.keylen > 0 && static_cast<std::size_t>(key.keylen) > bytes.size()) {
    TRY(bytes, window.at(position, static_cast<std::size_t>(key.keylen)));
    in = Cursor(bytes, static_cast<std::int64_t>(position));
    key = read_key(in);
  }
  if (in.failed() || !is_record(key)) return no_record;
  // Bytes in a free segment may look like a record. But a list that a crash left behind may be older than the records.
  if (is_free && key.seek != static_cast<std::int64_t>(position)) return no_record;
  const auto size = static_cast<std::uint64_t>(key.nbytes);
  const bool whole = size <= end - position;
  return WalkStep{whole ? WalkStep::Kind::record : WalkStep::Kind::cut, {position, whole ? size : end - position}, key};
}

}  // namespace

Result<> walk_records(const Source& source, std::uint64_t begin, std::uint64_t end,
                      std::span<const ByteRange> free_segments, const std::function<bool(const WalkStep&)>& visit) {
  Window window(source, std::min(end, source.size()));
  end = std::min(end, source.size());
  for (std::uint64_t position = begin; position < end;) {
    TRY(const WalkStep step, step_at(window, position, end, free_segments));
    if (!visit(step)) break;
    position += step.range.size;
  }
  return {};
}

}  // namespace tfile
