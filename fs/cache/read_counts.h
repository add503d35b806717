// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace tfilefs {

// The counts about reading, for each stream and each stream set (docs/semantics/running.md, "Statistics", explains the
// numbers to users). Times are in nanoseconds.
enum class Count : std::uint8_t {
  hits,               // reads answered at once
  misses,             // reads that had to wait for a chunk
  joined_loads,       // chunks that a load found being loaded by another one
  bytes_asked,        // by readers
  wait_ns,            // of readers, in misses
  read_calls,         // reads of the source; for a stream: fetches in which it had a part
  bytes_read,         // from the source; for a stream: without gaps
  gap_bytes,          // of those, gaps between the ranges wanted
  disk_ns,            // in read calls, shared out to streams by bytes
  chunks_decoded,     //
  bytes_decoded,      // of their arrays
  decode_ns,          // of CPU, shared out by bytes within a task
  chunks_ahead,       // claimed before a reader asked for them
  chunks_ahead_used,  // of those, asked for later
  chunks_ahead_lost,  // of those, gone before a reader asked for them
  bytes_ahead,        // stored bytes of chunks_ahead ...
  bytes_ahead_used,   // ... and of chunks_ahead_used
  evictions,          //
};
inline constexpr std::size_t kCounts = static_cast<std::size_t>(Count::evictions) + 1;

// Plain numbers, to be added up.
struct ReadCounts {
  std::array<std::uint64_t, kCounts> numbers{};

  std::uint64_t operator[](Count count) const { return numbers[static_cast<std::size_t>(count)]; }
  std::uint64_t& operator[](Count count) { return numbers[static_cast<std::size_t>(count)]; }
  ReadCounts& operator+=(const ReadCounts& other) {
    for (std::size_t i = 0; i < kCounts; ++i) numbers[i] += other.numbers[i];
    return *this;
  }
  bool any() const { return *this != ReadCounts(); }

  // Read for nothing so far: gaps, and chunks that were loaded ahead and that no reader has asked for.
  std::uint64_t extra_bytes() const {
    const std::uint64_t ahead = (*this)[Count::bytes_ahead], used = (*this)[Count::bytes_ahead_used];
    return (*this)[Count::gap_bytes] + (ahead > used ? ahead - used : 0);
  }
  friend bool operator==(const ReadCounts&, const ReadCounts&) = default;
};

// The counters themselves. Thread-safe. In a sum taken meanwhile, each number is of a moment of its own.
class AtomicReadCounts {
 public:
  void add(Count count, std::uint64_t n) {
    numbers_[static_cast<std::size_t>(count)].fetch_add(n, std::memory_order_relaxed);
  }
  ReadCounts now() const {
    ReadCounts counts;
    for (std::size_t i = 0; i < kCounts; ++i) counts.numbers[i] = numbers_[i].load(std::memory_order_relaxed);
    return counts;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kCounts> numbers_{};
};

// Wall time since it was made.
class Stopwatch {
 public:
  std::uint64_t elapsed_ns() const {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin_).count());
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// CPU time of this thread since this was made on it. Costs a system call: use it for tasks, not for chunks.
class CpuStopwatch {
 public:
  std::uint64_t elapsed_ns() const { return now() - begin_; }

 private:
  static std::uint64_t now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
  }
  std::uint64_t begin_ = now();
};

}  // namespace tfilefs
