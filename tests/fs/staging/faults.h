// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tfilefs::faults {

// Faults of the C library's calls in this program, until reset().
inline std::atomic<std::size_t> largest_write = SIZE_MAX;  // pwritev takes no more at once
inline std::atomic<std::int64_t> bytes_left = INT64_MAX;   // then ENOSPC, of fallocate too
inline std::atomic<int> interruptions = 0;                 // so many calls of pwritev give EINTR first
inline std::atomic<int> failing_syncs = 0;                 // so many calls of fdatasync give EIO
inline std::atomic<int> syncs = 0;                         // calls of fdatasync

// Calls of pwritev wait from hold_writes() until release_writes().
void hold_writes();
void wait_for_held_write();  // until one does
void release_writes();

inline void reset() {
  release_writes();
  largest_write = SIZE_MAX;
  bytes_left = INT64_MAX;
  interruptions = failing_syncs = syncs = 0;
}

}  // namespace tfilefs::faults
