// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "mutex.h"
#include "noting_source.h"
#include "read_log.h"
#include "reply.h"
#include "tfile/source.h"
#include "vfs/nodes/own_changes.h"

namespace tfilefs {

// A source whose file is looked at after every read: if it has changed since the opening, the read fails as `stale`, so
// that no reader gets a mixture of states. But a file that a job is still filling may change: as long as its head is
// the same, which every save rewrites (docs/format.md, "Header", "Directories"), it has only grown by bytes that belong
// to no save yet, at its end or in gaps. A job writes no basket or page a second time. So samples of those that were
// read must be there unchanged as well: else another file was written over this one. Thread-safe; blocks as the source
// does.
class GuardedSource final : public NotingSource, public std::enable_shared_from_this<GuardedSource> {
 public:
  static Result<std::shared_ptr<const GuardedSource>> guard(std::shared_ptr<const tfile::Source>);

  // To be called when the file was read, with the end of the last save. A file with bytes behind that is being filled.
  void set_saved_end(std::uint64_t end) const { saved_end_ = end; }

  // Notes there what is read of it from now on, also of siblings that are opened from now on. To be called before
  // another thread has this.
  void log_reads(std::shared_ptr<ReadLog> log) const { log_ = std::move(log); }

  // Whether a file in the state `now` still shows what was opened. `before`: the result of accepted() from before `now`
  // was obtained (otherwise a look overtaken by that of another thread would seem to go back).
  bool accepts(const tfile::Identity& before, const tfile::Identity& now) const EXCLUDES(mutex_);
  tfile::Identity accepted() const EXCLUDES(mutex_);

  // Whether another program has changed the file since it was opened; or, if it was written just now, changes it in the
  // next moments: apparent damage may be a save that is under way. Waits for that only if the last change is recent.
  bool is_changing() const EXCLUDES(mutex_);

  // Changes made by commits of this mount are no change for readers. `age`: of the opened state.
  void trust(std::shared_ptr<const OwnChanges> changes, std::uint64_t age) const EXCLUDES(mutex_);

  // The file no longer shows what was opened, as a read or a look at its path has found. This is permanent. Any thread.
  bool is_stale() const { return stale_; }
  void set_stale() const { stale_ = true; }

  // The file's first bytes at the time of opening.
  const std::string& head() const { return head_; }

  Result<> read(std::span<const tfile::ByteRange> ranges, std::span<const std::span<std::byte>> into) const override;
  void start_read(std::span<const tfile::ByteRange> ranges, std::span<const std::span<std::byte>> into,
                  ReadDone done) const override;
  void start_reads(std::vector<Started> reads) const override;
  void note_kept(std::uint64_t offset, std::span<const std::byte> bytes, tfile::EntryRange) const override
      EXCLUDES(mutex_);
  Result<std::shared_ptr<const tfile::Source>> sibling(std::string_view relative_path) const override;

 private:
  // From the middle of a basket: its first bytes, which name it, and its last, the places of its entries, are the same
  // in files that the same program has written.
  static constexpr std::size_t kSampleSize = 64;
  struct Sample {
    tfile::ByteRange range;
    std::array<std::byte, kSampleSize> bytes{};
  };
  ReadDone noting(std::vector<tfile::ByteRange> ranges, ReadDone done) const;
  void sample(std::uint64_t offset, std::span<const std::byte> bytes) const EXCLUDES(mutex_);
  explicit GuardedSource(std::shared_ptr<const tfile::Source> inner)
      : NotingSource(std::move(inner)), accepted_(identity()) {}
  struct Trusted {
    std::shared_ptr<const OwnChanges> changes;
    std::uint64_t age = 0;
  };
  Trusted trusted() const EXCLUDES(mutex_);
  bool is_own(const tfile::Identity& now) const EXCLUDES(mutex_);
  Result<std::string> read_head() const;
  bool may_be_filled(const tfile::Identity& before, const tfile::Identity& now) const;
  bool keeps_samples() const EXCLUDES(mutex_);

  mutable std::atomic<std::uint64_t> saved_end_ = ~std::uint64_t{0};
  mutable std::atomic<bool> stale_ = false;
  mutable std::shared_ptr<ReadLog> log_;  // may be null
  std::string head_;                      // as at the time of opening; constant from then on
  mutable Mutex mutex_{"GuardedSource::mutex_", "", "a read"};
  mutable Trusted trusted_ GUARDED_BY(mutex_);
  mutable tfile::Identity accepted_ GUARDED_BY(mutex_);     // the latest state that still shows what was opened
  mutable std::vector<Sample> samples_ GUARDED_BY(mutex_);  // of all that was noted, any with the same chance
  mutable std::uint64_t noted_ GUARDED_BY(mutex_) = 0;
  mutable std::minstd_rand chance_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
