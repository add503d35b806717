// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

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

// A call that changes files or names, or brings them to disk.
struct DiskCall {
  enum class Kind : std::uint8_t { write, cut, reserve, make, name, sync };
  Kind kind;
  int file;                           // of a name: its directory
  std::uint64_t offset = 0;           // of a cut: the size from then on
  std::span<const iovec> parts = {};  // what is written
};

// What takes the place of the disk for these calls.
class Disk {
 public:
  virtual ~Disk() = default;
  // By any thread. Returns the result of the call, and sets errno; `make` makes it.
  virtual long call(const DiskCall&, const std::function<long()>& make) = 0;
};
inline std::atomic<Disk*> disk = nullptr;

inline void reset() {
  disk = nullptr;
  release_writes();
  largest_write = SIZE_MAX;
  bytes_left = INT64_MAX;
  interruptions = failing_syncs = syncs = 0;
  no_unnamed_files = false;
}

}  // namespace tfilefs::faults
