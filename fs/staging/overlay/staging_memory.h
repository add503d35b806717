// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cache/budget.h"
#include "exec/lanes.h"
#include "mutex.h"
#include "tfile/buffer.h"
#include "tfile/result.h"

namespace tfilefs {

class StagedBytes;

// Memory of a block of staged bytes. Counted, in the staging's limit and in the mount's budget, for as long as it
// lives, whoever holds it.
class StagedBuffer {
 public:
  StagedBuffer(std::atomic<std::uint64_t>& in_use, Budget::Reservation, std::size_t size);
  ~StagedBuffer();
  StagedBuffer(const StagedBuffer&) = delete;
  StagedBuffer& operator=(const StagedBuffer&) = delete;
  std::byte* data() { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }

  // Readers outside the lock of the file. Who writes must copy while there are any.
  std::atomic<std::uint32_t> pins = 0;

 private:
  std::atomic<std::uint64_t>& in_use_;
  Budget::Reservation reservation_;
  tfile::Buffer bytes_;
};

// What all staged files of a mount hold in memory, together: `limit` bytes. Beyond it the blocks that were written
// longest ago go into their journals. Lives longer than every staged file. Thread-safe.
class StagingMemory {
 public:
  // `lanes`: what waits for room is a job in the one of this memory.
  StagingMemory(std::shared_ptr<Budget>, std::uint64_t limit, Lanes& lanes);

  std::uint64_t limit() const { return limit_; }
  std::uint64_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
  bool has_room(std::uint64_t bytes) const { return in_use() + bytes <= limit_; }

  // Spills until `bytes` more fit under the limit, or nothing is left that could go. Blocks: it writes journals; one
  // thread at a time, the others wait for it. Hold no lock. Errors: the journal's (no_space, io).
  tfile::Result<> make_room(std::uint64_t bytes);

  // Writes the least recently written blocks of any staged file, `bytes` or a little more, and frees them. Gives the
  // bytes that were freed: fewer where there are no more that nobody reads. Blocks, as above.
  tfile::Result<std::uint64_t> spill(std::uint64_t bytes);

  // Runs `job`, which may make room and wait for the journals, when those asked for before are done. False: no more.
  bool run_in_turn(std::function<void()> job) { return lanes_.run(this, std::move(job)); }

  // Counted at once, even beyond the limit and the budget: the cache gives way, nothing waits. For staged_bytes alone.
  std::shared_ptr<StagedBuffer> buffer(std::size_t size);
  void add(std::weak_ptr<StagedBytes>);
  std::uint64_t next_stamp() { return stamp_.fetch_add(1, std::memory_order_relaxed); }

 private:
  tfile::Result<std::uint64_t> spill_oldest(std::uint64_t bytes) EXCLUDES(mutex_);
  void begin_turn() EXCLUDES(mutex_);
  void end_turn() EXCLUDES(mutex_);
  std::vector<std::shared_ptr<StagedBytes>> files() EXCLUDES(mutex_);

  const std::shared_ptr<Budget> budget_;
  const std::uint64_t limit_;
  Lanes& lanes_;
  std::atomic<std::uint64_t> in_use_ = 0;
  std::atomic<std::uint64_t> stamp_ = 1;

  Mutex mutex_;
  Condition spilled_;
  bool spilling_ GUARDED_BY(mutex_) = false;
  std::vector<std::weak_ptr<StagedBytes>> files_ GUARDED_BY(mutex_);
  std::size_t sweep_at_ GUARDED_BY(mutex_) = 64;
};

}  // namespace tfilefs
