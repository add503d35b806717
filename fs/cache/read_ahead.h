// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "cache/ahead/column_sweep.h"
#include "cache/ahead/open_columns.h"
#include "cache/ahead/prefetch.h"
#include "cache/ahead/usage_history.h"
#include "cache/cluster_cache.h"
#include "cache/extent_store.h"
#include "mutex.h"
#include "tfile/stream_set.h"

namespace tfilefs {

// One read of a column, not empty: its bytes, and the chunks that have them.
struct ColumnRead {
  tfile::StreamId stream = 0;
  std::uint32_t slot = 0;
  std::uint64_t item_size = 0;
  std::uint64_t begin = 0, end = 0;  // bytes, within the column
  std::uint32_t first_chunk = 0, last_chunk = 0;
};

// Decides which parts of a table are loaded before a reader asks for them: the next chunks of a column that is read in
// order, the same entries of the columns that are used with it, and the next columns for a reader that goes from column
// to column. Reads nothing itself. Thread-safe; its lock is held for microseconds.
class ReadAhead {
 public:
  ReadAhead(const tfile::StreamSet& streams, Prefetch prefetch, std::uint64_t memory);

  struct Advice {
    bool once = false;                 // the reader goes on in a chunk that it has used before
    bool is_remote = false;            // the column comes from a server
    std::vector<tfile::ChunkKey> own;  // chunks of the column itself
    bool companions = false;           // the column was used before, so it may have some...
    tfile::EntryRange entries;         // ...which may be wanted for these entries
    ColumnSweep::Advice sweep;
    std::vector<tfile::StreamId> opened;  // of a remote source: open columns that will be wanted for these entries
  };
  // Notes a read. To be called once for each. Without `chosen` it only advises the column's own next chunks, and only
  // once more was read than the kernel reads by itself.
  Advice note(const ColumnRead&, const Extents&, bool chosen = true);

  // A file of a column of the stream was opened, or closed.
  void note_open(tfile::StreamId);
  void note_close(tfile::StreamId);

  // Chunks that cover the entries, of the streams that are used together with this one; only once for the same entries.
  std::vector<tfile::ChunkKey> of_companions(tfile::StreamId, tfile::EntryRange);

  // Chunks of the opened streams that cover the entries, and no more than a reader waits for by mistake. If these are
  // few bytes, also further ones, of `own` as well.
  std::vector<tfile::ChunkKey> of_opened(tfile::StreamId own, std::span<const tfile::StreamId> opened,
                                         tfile::EntryRange) const;

  // Chunks of all streams of the sweep.
  std::vector<tfile::ChunkKey> of_sweep(const ColumnSweep::Advice&) const;

 private:
  std::uint64_t window(tfile::ChunkKey) REQUIRES(mutex_);
  SequenceDetector::Advice observe(const ColumnRead&, std::uint64_t column_end) REQUIRES(mutex_);
  std::uint32_t part_of(std::int64_t entry, std::int64_t entries) const;
  std::int64_t part_end(std::int64_t entry, std::int64_t entries) const;
  std::int64_t all_entries(tfile::StreamId) const;
  static std::vector<tfile::ChunkKey> own_chunks(const ColumnRead&, const Extents&, const SequenceDetector::Advice&);
  void append(tfile::StreamId, tfile::EntryRange, std::vector<tfile::ChunkKey>&) const;
  std::uint64_t stored_bytes(std::span<const tfile::ChunkKey>) const;
  std::vector<tfile::ChunkKey> within_budget(std::vector<tfile::ChunkKey>) const;

  const tfile::StreamSet& streams_;
  const Prefetch prefetch_;
  const std::uint64_t memory_;
  // The bounds of the parts that the entries are cut into, each of one or more clusters; {}: all parts are of equal
  // length.
  const std::vector<std::int64_t> part_bounds_;
  const std::uint32_t parts_;

  mutable Mutex mutex_{"ReadAhead::mutex_", "ServerLine::mutex_, XrootdServer::mutex_"};
  std::uint64_t window_ GUARDED_BY(mutex_) = 0;     // bytes ahead of one reader; 0: not known yet
  std::uint64_t ahead_min_ GUARDED_BY(mutex_) = 0;  // of these, the least
  bool is_remote_ GUARDED_BY(mutex_) = false;       // the source is; known with the window
  std::unordered_map<std::uint64_t, SequenceDetector> readers_ GUARDED_BY(mutex_);  // by stream and slot
  UsageHistory history_ GUARDED_BY(mutex_);
  ColumnSweep sweep_ GUARDED_BY(mutex_);
  OpenColumns open_ GUARDED_BY(mutex_);
  std::unordered_map<tfile::StreamId, tfile::EntryRange> loaded_with_ GUARDED_BY(mutex_);  // last, with companions
};

}  // namespace tfilefs
