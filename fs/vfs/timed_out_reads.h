// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "mutex.h"
#include "steady_clock.h"
#include "tfile/result.h"
#include "vfs/open_files.h"

namespace tfilefs {

// Reads that have timed out a moment ago. When what the kernel has read ahead fails, it asks once more for the page
// that a program waits for. Without this the program would wait for twice the time-out. Thread-safe.
class TimedOutReads {
 public:
  explicit TimedOutReads(const SteadyClock& clock) : clock_(clock) {}

  void note(HandleId handle, std::uint64_t offset, std::size_t size, const tfile::Error& error) {
    const Lock lock(mutex_);
    failures_.insert_or_assign(handle, Failure{offset, offset + size, clock_.now(), error});
    count_ = failures_.size();
  }

  // The error of such a read that covers this one.
  std::optional<tfile::Error> find(HandleId handle, std::uint64_t offset, std::size_t size) {
    if (count_ == 0) return std::nullopt;
    const Lock lock(mutex_);
    const auto found = failures_.find(handle);
    if (found == failures_.end()) return std::nullopt;
    const Failure& failure = found->second;
    if (clock_.now() - failure.when > kKept) return std::nullopt;
    const bool is_covered = offset >= failure.begin && offset + size <= failure.end;
    return is_covered ? std::optional(failure.error) : std::nullopt;
  }

  void forget(HandleId handle) {
    if (count_ == 0) return;
    const Lock lock(mutex_);
    failures_.erase(handle);
    count_ = failures_.size();
  }

 private:
  // The kernel asks again at once; a program that tries again may do so a little later.
  static constexpr std::chrono::milliseconds kKept{500};
  struct Failure {
    std::uint64_t begin = 0, end = 0;
    SteadyClock::Time when;
    tfile::Error error;
  };

  const SteadyClock& clock_;
  Mutex mutex_{"TimedOutReads::mutex_"};
  std::atomic<std::size_t> count_ = 0;
  std::unordered_map<HandleId, Failure> failures_ GUARDED_BY(mutex_);  // the last one of each file
};

}  // namespace tfilefs
