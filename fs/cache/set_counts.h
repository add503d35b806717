// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "cache/read_counts.h"
#include "tfile/node.h"

namespace tfilefs {

// The counts of one stream set: its own, and one for each stream that was used. Thread-safe; nothing is ever locked.
class SetCounts {
 public:
  SetCounts() = default;
  ~SetCounts();
  SetCounts(const SetCounts&) = delete;
  SetCounts& operator=(const SetCounts&) = delete;

  // Of the stream; made when first asked for, and good as long as this.
  AtomicReadCounts& stream(tfile::StreamId);

  // A part of something that is counted as a whole: what a stream had of it, in bytes.
  struct Share {
    tfile::StreamId stream = 0;
    std::uint64_t bytes = 0;
  };
  // Calls that read `bytes` of the source for the shares, which are less where gaps were read through. Puts the shares
  // in order.
  void add_reads(std::uint64_t calls, std::uint64_t bytes, std::uint64_t disk_ns, std::vector<Share>& shares);

  // Decoding that took `decode_ns` in all.
  void add_decoding(std::uint64_t decode_ns, std::vector<Share>& shares);

  // All together: sums over the streams, but for reads, of which streams have parts in common.
  ReadCounts total() const;

  // Each stream that was used, in order.
  void each_stream(const std::function<void(tfile::StreamId, const ReadCounts&)>&) const;

  // Memory that this takes.
  std::uint64_t memory() const;

  // Memory of what is counted here: metadata of the set, and the extents of its streams.
  std::atomic<std::uint64_t> set_memory = 0, extents_memory = 0;

 private:
  // Segment k holds streams 2^k - 1 to 2^(k+1) - 2, so that nothing moves when more streams come into use.
  using Slot = std::atomic<AtomicReadCounts*>;
  static constexpr std::size_t kSegments = 33;
  static std::size_t segment_size(std::size_t segment) { return std::size_t{1} << segment; }
  Slot& slot(tfile::StreamId);

  AtomicReadCounts reads_;  // read_calls, bytes_read, gap_bytes, disk_ns of all streams
  std::array<std::atomic<Slot*>, kSegments> segments_{};
};

}  // namespace tfilefs
