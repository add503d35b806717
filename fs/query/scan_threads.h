// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "exec/thread_pool.h"

namespace tfilefs {

// Bytes that a unit of a scan has in memory. One that has more is read in halves.
inline constexpr std::uint64_t kUnitBytesMax = 32 << 20, kSharedUnitBytesMax = 8 << 20;

// Scans of a table that a mount runs at once: a long one does not hold up the others.
inline constexpr std::size_t kScansAtOnce = 4;

// The threads of a scan of a table, which exist as long as it takes, and how much of the table it holds. While some
// units wait for their bytes, others are evaluated: there is a thread more than compute.
class ScanThreads {
 public:
  // In a cache that others use as well: units hold copies beside it.
  ScanThreads()
      : ScanThreads(std::clamp(std::thread::hardware_concurrency(), 1u, kThreadsMax), UINT64_MAX, kSharedUnitBytesMax) {
  }
  // In a cache of its own, of so many bytes. What units hold is in it, and leaves room for what they wait for.
  ScanThreads(unsigned threads, std::uint64_t memory)
      : ScanThreads(std::max(threads, 1u), memory / 4 * 3, kUnitBytesMax) {}

  ThreadPool& workers() { return workers_; }
  std::size_t units_at_once() const { return units_; }
  std::uint64_t unit_bytes() const { return unit_bytes_; }

 private:
  static constexpr unsigned kThreadsMax = 8;
  static constexpr std::uint64_t kUnitBytesLeast = 1 << 20;

  // `bytes_max`: of all units.
  ScanThreads(unsigned threads, std::uint64_t bytes_max, std::uint64_t unit_bytes_max)
      : units_(std::min(2 * std::size_t{threads} + 1, std::max<std::size_t>(1, bytes_max / kUnitBytesLeast))),
        unit_bytes_(std::min(unit_bytes_max, bytes_max / units_)),
        workers_(threads + 1) {}

  const std::size_t units_;
  const std::uint64_t unit_bytes_;
  ThreadPool workers_;
};

}  // namespace tfilefs
