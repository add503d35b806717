// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tfilefs::faults {

// Faults in calls of the C library by this program; reset() ends them.
inline std::atomic<std::size_t> largest_write = SIZE_MAX;  // pwritev writes at most this many bytes
inline std::atomic<std::int64_t> bytes_left = INT64_MAX;   // then ENOSPC, also from fallocate
inline std::atomic<int> interruptions = 0;                 // this many calls of pwritev first give EINTR
inline std::atomic<int> failing_syncs = 0;                 // this many calls of fdatasync give EIO
inline std::atomic<int> syncs = 0;                         // calls of fdatasync
inline std::atomic<bool> no_unnamed_files = false;         // openat with O_TMPFILE gives EOPNOTSUPP

// Between hold_writes() and release_writes(), calls of pwritev wait.
void hold_writes();
void wait_for_held_write();  // until a call waits
void release_writes();

inline void reset() {
  release_writes();
  largest_write = SIZE_MAX;
  bytes_left = INT64_MAX;
  interruptions = failing_syncs = syncs = 0;
  no_unnamed_files = false;
}

}  // namespace tfilefs::faults
