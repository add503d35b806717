// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cache/budget.h"
#include "exec/serial_queues.h"
#include "mutex.h"
#include "tfile/buffer.h"
#include "tfile/result.h"

namespace tfilefs {

class StagedBytes;

// Memory of a block of staged bytes. It counts in the limit of staging and in the mount's budget for as long as it
// exists, whether or not the file still uses it.
class StagedBuffer {
 public:
  StagedBuffer(std::atomic<std::uint64_t>& in_use, Budget::Reservation, std::size_t size);
  ~StagedBuffer();
  StagedBuffer(const StagedBuffer&) = delete;
  StagedBuffer& operator=(const StagedBuffer&) = delete;
  std::byte* data() { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }

  // Readers without the lock of the file. While there are any, a writer must copy.
  std::atomic<std::uint32_t> pins = 0;

 private:
  std::atomic<std::uint64_t>& in_use_;
  Budget::Reservation reservation_;
  tfile::Buffer bytes_;
};

// The memory of all staged files of a mount: `limit` bytes in total. Beyond that, the least recently written blocks go
// to their journals. Outlives every staged file. Thread-safe.
class StagingMemory {
 public:
  // `serial queues`: writes that wait for room are jobs in the queue of this object.
  StagingMemory(std::shared_ptr<Budget>, std::uint64_t limit, SerialQueues& serial_queues);

  std::uint64_t limit() const { return limit_; }
  std::uint64_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
  bool has_room(std::uint64_t bytes) const { return in_use() + bytes <= limit_; }

  // Spills until `bytes` more fit under the limit, or nothing more can be spilled. Blocks: it writes journals, one
  // thread at a time, while the others wait. Only the lock of commits may be held. Errors: those of the journal
  // (no_space, io).
  tfile::Result<> make_room(std::uint64_t bytes);

  // Spills the least recently written blocks of any staged file, `bytes` or a little more. Returns the number of bytes
  // freed: fewer if all others are being read. Blocks, as above.
  tfile::Result<std::uint64_t> spill(std::uint64_t bytes);

  // Runs `job`, which may make room and wait for the journals, after those that came before. False: no more jobs are
  // run.
  bool run_in_turn(std::function<void()> job) { return queues_.run(this, std::move(job)); }

  // Counted at once, even beyond the limit and the budget: chunks are evicted for it, and it never waits. For
  // staged_bytes only.
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
  SerialQueues& queues_;
  std::atomic<std::uint64_t> in_use_ = 0;
  std::atomic<std::uint64_t> stamp_ = 1;

  Mutex mutex_{"StagingMemory::mutex_"};
  Condition spilled_;
  bool spilling_ GUARDED_BY(mutex_) = false;
  std::vector<std::weak_ptr<StagedBytes>> files_ GUARDED_BY(mutex_);
  std::size_t sweep_at_ GUARDED_BY(mutex_) = 64;
};

}  // namespace tfilefs
