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

// The counts of one stream set: its own, and those of each stream that was used. Thread-safe, without locks.
class SetCounts {
 public:
  // Without `by_stream` all streams are counted as one.
  explicit SetCounts(bool by_stream = true) : by_stream_(by_stream) {}
  ~SetCounts();
  SetCounts(const SetCounts&) = delete;
  SetCounts& operator=(const SetCounts&) = delete;

  // The counts of a stream; made when first asked for, and valid as long as this object.
  AtomicReadCounts& stream(tfile::StreamId);

  // The share of a stream in something that is counted as a whole, in bytes.
  struct Share {
    tfile::StreamId stream = 0;
    std::uint64_t bytes = 0;
  };
  // Adds calls that read `bytes` of the source for the shares; the shares are less where gaps were read through. Sorts
  // the shares.
  void add_reads(std::uint64_t calls, std::uint64_t bytes, std::uint64_t disk_ns, std::vector<Share>& shares);

  // Adds decoding that took `decode_ns` in total.
  void add_decoding(std::uint64_t decode_ns, std::vector<Share>& shares);

  // Sums over the streams; but for reads the set's own counts, since streams share reads.
  ReadCounts total() const;

  // Calls the function for each stream that was used, in order.
  void each_stream(const std::function<void(tfile::StreamId, const ReadCounts&)>&) const;

  // Memory of these counts.
  std::uint64_t memory() const;

  // Memory of what these counts are about: metadata of the set, and the extents of its streams.
  std::atomic<std::uint64_t> set_memory = 0, extents_memory = 0;

 private:
  // Segment k holds streams 2^k - 1 to 2^(k+1) - 2, so that no entry moves when more streams come into use.
  using Slot = std::atomic<AtomicReadCounts*>;
  static constexpr std::size_t kSegments = 33;
  static std::size_t segment_size(std::size_t segment) { return std::size_t{1} << segment; }
  Slot& slot(tfile::StreamId);

  const bool by_stream_;
  AtomicReadCounts of_all_;  // not by stream
  AtomicReadCounts reads_;   // read_calls, bytes_read, gap_bytes, disk_ns of all streams
  std::array<std::atomic<Slot*>, kSegments> segments_{};
};

}  // namespace tfilefs
