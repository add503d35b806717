// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "mutex.h"
#include "reply.h"
#include "tfile/source.h"
#include "vfs/own_changes.h"

namespace tfilefs {

// A source that is looked at after every read: bytes of a state after the one that was opened are `stale`, so that no
// reader gets a mixture. But a file that a job still fills may change meanwhile: as long as its head is the same, which
// every save rewrites (docs/format.md, "Header", "Directories"), it has only grown by what belongs to no save yet, at
// its end or in gaps. Thread-safe; blocks as the source does.
class GuardedSource final : public tfile::Source {
 public:
  static Result<std::shared_ptr<const GuardedSource>> guard(std::shared_ptr<const tfile::Source>);

  // Told when the file was read: where the last save ended. A file with bytes behind that is being filled.
  void set_saved_end(std::uint64_t end) const { saved_end_ = end; }

  // Whether a file in the state `now` shows what was opened. `before`: what accepted() gave before `now` was looked at
  // (a look that another thread has overtaken would seem to go back).
  bool accepts(const tfile::Identity& before, const tfile::Identity& now) const EXCLUDES(mutex_);
  tfile::Identity accepted() const EXCLUDES(mutex_);

  // Whether another program has changed the file since it was opened or, where it was just written, does so in the next
  // moments: what looks damaged may be a save that is under way. Waits for that; where the last change is older, not at
  // all.
  bool is_changing() const EXCLUDES(mutex_);

  // What commits of this mount make of the file is no change to who reads it. `age`: of what was opened.
  void trust(std::shared_ptr<const OwnChanges> changes, std::uint64_t age) const EXCLUDES(mutex_);

  // That the file does not show any more what was opened, as a read has found, or whoever looked at it by its path: for
  // ever. Any thread.
  bool is_stale() const { return stale_; }
  void set_stale() const { stale_ = true; }

  // The file's first bytes as they were when it was opened.
  const std::string& head() const { return head_; }

  const tfile::Identity& identity() const override { return inner_->identity(); }
  Result<tfile::Identity> identity_now() const override { return inner_->identity_now(); }
  tfile::SourceOrigin origin() const override { return inner_->origin(); }
  const std::string& name() const override { return inner_->name(); }
  tfile::SourceTraits traits() const override { return inner_->traits(); }
  Result<> read(std::span<const tfile::ByteRange> ranges, std::span<const std::span<std::byte>> into) const override;
  Result<std::shared_ptr<const tfile::Source>> sibling(std::string_view relative_path) const override;

 private:
  explicit GuardedSource(std::shared_ptr<const tfile::Source> inner)
      : inner_(std::move(inner)), accepted_(inner_->identity()) {}
  struct Trusted {
    std::shared_ptr<const OwnChanges> changes;
    std::uint64_t age = 0;
  };
  Trusted trusted() const EXCLUDES(mutex_);
  bool is_own(const tfile::Identity& now) const EXCLUDES(mutex_);
  Result<std::string> read_head() const;
  bool may_be_filled(const tfile::Identity& before, const tfile::Identity& now) const;

  const std::shared_ptr<const tfile::Source> inner_;
  mutable std::atomic<std::uint64_t> saved_end_ = ~std::uint64_t{0};
  mutable std::atomic<bool> stale_ = false;
  std::string head_;  // as it was when opened; constant from then on
  mutable Mutex mutex_;
  mutable Trusted trusted_ GUARDED_BY(mutex_);
  mutable tfile::Identity accepted_ GUARDED_BY(mutex_);  // the state in which it was last found to be the same
};

}  // namespace tfilefs
