// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cluster_cache.h"
#include "content.h"
#include "tfile/node.h"

namespace tfilefs {

// A range of a column's bytes.
struct ColumnRange {
  tfile::StreamId stream = 0;
  std::uint32_t slot = 0;
  std::size_t item_size = 0;
  std::uint64_t offset = 0, size = 0;
};
// That of these items; no further than a file can reach (2^63 - 1 bytes).
ColumnRange range_of_items(const tfile::Column&, std::int64_t first, std::int64_t count);

// Exactly those bytes, or an error: less contradicts the size that was promised. `chosen` as in CachedStreams::read.
void read_whole(CachedStreams&, const ColumnRange&, bool chosen, Reply<Slices>);
inline void read_whole(CachedStreams& streams, const ColumnRange& range, Reply<Slices> reply) {
  read_whole(streams, range, true, std::move(reply));
}
void copy_slices(const Slices&, std::byte* to);

// Bytes that are computed from columns, in pieces that are made as a whole (so they should be of a megabyte at most).
// Const and thread-safe.
class Transform {
 public:
  virtual ~Transform() = default;

  // What `make` needs for a piece; it gets their bytes in this order.
  virtual std::vector<ColumnRange> inputs(std::uint64_t piece) const = 0;

  // What else it needs, told by what came so far; asked until there is nothing more. Error: damaged.
  virtual Result<std::vector<ColumnRange>> more_inputs(std::uint64_t piece, std::span<const std::string> inputs) const;

  // Fills `to`, whose size was told when the piece was added. Error: damaged (the columns contradict each other).
  virtual Result<void> make(std::uint64_t piece, std::span<const std::string> inputs, std::span<char> to) const = 0;
};

// The kernel reads whole pages: an error is one of all that has bytes in the page.
inline constexpr std::uint64_t kMemoryPage = 4096;

// What a view consists of, in the order of the file. The size is the sum of what was added; nothing is read for it.
class Segments {
 public:
  void add_bytes(std::string_view);                      // generated: kept as they are
  void add_fill(std::uint8_t byte, std::uint64_t size);  // the same byte over and over
  void add_column(const ColumnRange&);                   // as it is

  // Pieces 0, 1, ... of `piece_size` bytes, the last of them what is left of `size`.
  void add_pieces(std::shared_ptr<const Transform>, std::uint64_t piece_size, std::uint64_t size);
  // One piece of a transform that has pieces of different sizes.
  std::uint32_t add_transform(std::shared_ptr<const Transform>);
  void add_piece(std::uint32_t transform, std::uint64_t piece, std::uint64_t size);

  void append(Segments&&);

  // Zeros up to the next multiple of `alignment`.
  void align(std::uint64_t alignment) { add_fill(0, (alignment - size_ % alignment) % alignment); }

  // What follows shares no page of memory with what was added from `begin` on, if that is large enough for the padding
  // not to matter.
  void end_of_column(std::uint64_t begin) {
    if (size_ - begin >= 16 * kMemoryPage) align(kMemoryPage);
  }

  std::uint64_t size() const { return size_; }

  // More than a file can hold was added; what is beyond was dropped.
  bool is_too_large() const { return too_large_; }

 private:
  friend class SegmentContent;
  enum class Kind : std::uint8_t { bytes, fill, column, pieces };
  struct Segment {
    std::uint64_t begin = 0;  // within the view
    Kind kind = Kind::bytes;
    std::uint32_t which = 0;  // of fill: the byte; of column: the source; of pieces: the transform
    std::uint64_t from = 0;   // of bytes: where in bytes_; of column: its byte; of pieces: the first one's number
  };
  struct Source {
    tfile::StreamId stream;
    std::uint32_t slot;
    std::size_t item_size;
  };
  void add(Kind, std::uint32_t which, std::uint64_t from, std::uint64_t size);

  struct Pieces {
    std::shared_ptr<const Transform> transform;
    std::uint64_t size;  // of each; 0: a segment is one piece
  };

  std::uint64_t size_ = 0;
  bool too_large_ = false;
  std::string bytes_;
  std::vector<Segment> segments_;  // in order, none empty
  std::vector<Source> sources_;
  std::vector<Pieces> transforms_;
};

// The file that consists of these segments. `chosen`: as in CachedStreams::read, of all that is read of it. A read that meets the bytes of one column, and besides them only generated
// bytes, is answered from the cache's own memory; any other is put together in a buffer, all its parts at once, so that
// no part keeps chunks in memory while another waits for some.
std::shared_ptr<Content> segment_content(std::shared_ptr<CachedStreams>, Segments, bool chosen = true);

}  // namespace tfilefs
