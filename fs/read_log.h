// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mutex.h"
#include "tfile/range.h"

namespace tfilefs {

// The origin of the bytes of a read. Of a local file, `kernel` is all that the kernel gave without reading a disk for
// this thread: its pages, or a file system of the network.
enum class ReadFrom : std::uint8_t { kernel, disk, memory, disk_cache, server };
// In the order of the values.
inline constexpr auto kReadsFrom =
    std::to_array<std::string_view>({"kernel", "disk", "memory", "disk cache", "server"});

struct LoggedRead {
  std::uint64_t number = 0;  // of all reads, from 1
  std::uint32_t file = 0;
  ReadFrom from = ReadFrom::kernel;
  tfile::ByteRange range;
  std::chrono::nanoseconds at{0}, took{0};  // `at`: since the log began
  tfile::EntryRange entries;                // of the tables' chunks that it brought; empty: of none
};

struct LoggedFile {
  std::uint32_t number = 0;
  std::uint64_t size = 0, reads = 0, bytes = 0;
  std::uint64_t seeks = 0, bytes_between = 0;  // reads that do not begin where the one before ended, and how far off
  std::chrono::nanoseconds took{0};
  std::uint64_t last_read = 0, last_end = 0;
};

// The last reads of ROOT files, as .tfilefs/reads.json tells them. Thread-safe.
class ReadLog {
 public:
  using Clock = std::chrono::steady_clock;
  // All baskets of a thousand branches in some clusters; half a megabyte with the entries of all.
  static constexpr std::size_t kReadsMax = 4096;
  // The log forgets the file that was not read for longest beyond so many.
  static constexpr std::size_t kFilesMax = 256;

  // Ranges that were read together, in their order; those that adjoin are one read. Their time is shared out by bytes.
  // Without memory for it, it is not told.
  void note(const std::string& name, std::uint64_t file_size, std::span<const tfile::ByteRange> ranges,
            Clock::time_point begin, Clock::time_point end, ReadFrom from) EXCLUDES(mutex_);

  // Notes that the bytes at `offset` are entries of a table. Looks at some of the last reads only.
  void note_entries(const std::string& name, std::uint64_t offset, tfile::EntryRange entries) EXCLUDES(mutex_);

  struct Report {
    std::chrono::nanoseconds now{0};  // since the log began
    std::uint64_t reads = 0;          // ever
    std::map<std::string, LoggedFile, std::less<>> files;
    std::vector<LoggedRead> last;  // the newest first
  };
  Report report() const EXCLUDES(mutex_);

 private:
  LoggedFile& file_of(const std::string& name) REQUIRES(mutex_);
  void add(LoggedFile&, LoggedRead) REQUIRES(mutex_);

  const Clock::time_point began_ = Clock::now();
  mutable Mutex mutex_{"ReadLog::mutex_", "", "a read"};
  std::map<std::string, LoggedFile, std::less<>> files_ GUARDED_BY(mutex_);
  std::deque<LoggedRead> last_ GUARDED_BY(mutex_);
  std::uint64_t reads_ GUARDED_BY(mutex_) = 0;
  std::uint32_t files_seen_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfilefs
