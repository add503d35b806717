// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cache/budget.h"
#include "cache/count_registry.h"
#include "cache/piece_cache.h"
#include "content.h"
#include "exec/executors.h"
#include "reply.h"
#include "tfile/stream_set.h"

namespace tfilefs {

struct CacheCore;

// The chunks that are loaded before a reader asks: none; the next ones of a column that is read in order; and in
// addition the columns that are used together.
enum class Prefetch : std::uint8_t { off, sequential, learn };

struct CacheOptions {
  std::uint64_t memory = 0;             // bytes: cache and work in flight
  unsigned threads = 0;                 // that decode
  unsigned io_threads = 4;              // per origin of sources; architecture, "Threads"
  unsigned job_threads = 4;             // they open files and list directories
  std::uint64_t readahead = 256 << 10;  // gaps up to this size are read through
  Prefetch prefetch = Prefetch::learn;
  bool counts_streams = true;  // each by itself, for a report: some hundred bytes for each that is read
};

struct CacheReport {
  CountRegistry::Report reading;
  std::uint64_t budget = 0, budget_used = 0, budget_peak = 0;  // bytes
};

// The purpose of a read.
struct ReadUse {
  // False where the program may not have asked for this column: it lies behind another in the same file, and the kernel
  // reads on. No habits are learnt from such a read.
  bool chosen = true;
  // The bytes go unchanged to the kernel, which keeps them in its pages of a file: a chunk that it has as a whole is
  // the first to leave the cache.
  bool handed_over = false;
  // They are looked at once, and mostly not again: a chunk of a local file leaves the cache when a few others came so.
  bool passing = false;
};

// Columns that are read through the cache: those of one StreamSet (ClusterCache::attach), or of many files that are one
// table (view/chain). Kept alive by open files. Thread-safe.
class CachedStreams {
 public:
  virtual ~CachedStreams() = default;
  virtual const tfile::StreamSet& streams() const = 0;

  // A program has opened a file of a column of the stream, or closed it. At a remote source, columns that are open and
  // unread are loaded together with the first one that is read.
  virtual void note_open(tfile::StreamId) {}
  virtual void note_close(tfile::StreamId) {}

  // Items of a column. Answers at once from metadata or earlier work; else reads headers, or decodes lengths, once for
  // all callers. A stream damaged in the middle has the length of the part before the damage plus one item, so that
  // reading reaches the error instead of a false end. Given up when no caller waits any more.
  virtual void length(tfile::StreamId, std::uint32_t slot, Reply<std::int64_t>) = 0;

  // The same where no payload has to be decoded for it; else nothing.
  virtual void cheap_length(tfile::StreamId, std::uint32_t slot, Reply<std::optional<std::int64_t>>) = 0;

  // The length if `length` would answer it at once from metadata, headers already read, or earlier work; never reads.
  virtual std::optional<std::int64_t> known_length(tfile::StreamId, std::uint32_t slot) const = 0;

  // Bytes [offset, offset + size) of the column of this slot, whose items are item_size bytes; fewer at its end.
  virtual void read(tfile::StreamId, std::uint32_t slot, std::size_t item_size, std::uint64_t offset, std::size_t size,
                    ReadUse, Reply<Slices>) = 0;
  void read(tfile::StreamId stream, std::uint32_t slot, std::size_t item_size, std::uint64_t offset, std::size_t size,
            Reply<Slices> reply) {
    read(stream, slot, item_size, offset, size, ReadUse(), std::move(reply));
  }

  // Runs a step of the making of a view, on a thread that no read of a column needs. The step must be short and never
  // block: the other views that are being made wait behind it.
  virtual void run_view_job(std::function<void()>) = 0;

  // The cache of pieces of views, for their next readers.
  virtual PieceCache& pieces() const = 0;

  // The state of the files if they are several; else null.
  struct Files {
    std::uint64_t bytes = 0;  // of all together
    std::string json;         // what .schema.json says of them
  };
  virtual const Files* files() const { return nullptr; }
};

// One cache serves all readers of a mount: each chunk is fetched once and decoded once, however many ask for it.
class ClusterCache {
 public:
  explicit ClusterCache(const CacheOptions&);
  ~ClusterCache();  // waits for the work in flight
  ClusterCache(const ClusterCache&) = delete;
  ClusterCache& operator=(const ClusterCache&) = delete;

  // The chunks of the set, in the cache until the last owner of the result goes. `label`: the table that its reads are
  // counted for.
  std::shared_ptr<CachedStreams> attach(std::shared_ptr<const tfile::StreamSet>, TableLabel label = {});

  // The threads of the cache and of the whole mount; the pieces of its views.
  Executors& exec();
  PieceCache& pieces();
  // The columns that are read at random in small files of chains: they outlive the opening of a file.
  PieceCache& file_parts();
  bool looks_ahead() const;  // Prefetch is not off
  bool learns() const;       // which columns are used together

  // Ends all work under way: requests that wait for memory are denied, jobs that were accepted are run, no more are
  // accepted, tasks are run. Returns when all requests are answered; tasks can still be run then. Must not be called
  // from one of its threads.
  void settle();

  // For times without reads: evicts the chunks that the kernel has as well, and returns the memory kept for the next
  // chunks to the system.
  void give_back_idle();

  // The memory limit of the cache, for components that hold some of it themselves.
  const std::shared_ptr<Budget>& budget() const;

  // Sums over the whole mount, by name.
  struct Counters {
    std::uint64_t hits = 0, misses = 0, evictions = 0, bytes_read = 0, read_calls = 0, bytes_decoded = 0,
                  chunks_decoded = 0, budget_used = 0, budget = 0;
  };
  Counters counters() const;

  // The counts so far; `with_streams`: for each stream of each table as well.
  CacheReport report(bool with_streams) const;

 private:
  const std::shared_ptr<CacheCore> core_;
};

}  // namespace tfilefs
