// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "mutex.h"
#include "reply.h"
#include "tfile/source.h"

namespace tfilefs {

// A source that is looked at after every read: bytes of a state after the one that was opened are `stale`, so that no
// reader gets a mixture. A file that a job still fills may grow meanwhile: what was there stays what it was as long as
// the head of the file, which every save rewrites (docs/format.md, "Header", "Directories"), is the same.
// Thread-safe; blocks as the source does.
class GuardedSource final : public tfile::Source {
 public:
  static Result<std::shared_ptr<const GuardedSource>> guard(std::shared_ptr<const tfile::Source>);

  // Whether a file in this state shows what was opened.
  bool accepts(const tfile::Identity& now) const EXCLUDES(mutex_);

  const tfile::Identity& identity() const override { return inner_->identity(); }
  Result<tfile::Identity> identity_now() const override { return inner_->identity_now(); }
  const std::string& name() const override { return inner_->name(); }
  Result<> read(std::span<const tfile::ByteRange> ranges, std::span<const std::span<std::byte>> into) const override;
  Result<std::shared_ptr<const tfile::Source>> sibling(std::string_view relative_path) const override;

 private:
  explicit GuardedSource(std::shared_ptr<const tfile::Source> inner)
      : inner_(std::move(inner)), accepted_(inner_->identity()) {}
  Result<std::string> read_head() const;

  const std::shared_ptr<const tfile::Source> inner_;
  std::string head_;  // as it was when opened; constant from then on
  mutable Mutex mutex_;
  mutable tfile::Identity accepted_ GUARDED_BY(mutex_);  // the state in which it was last found to be the same
};

}  // namespace tfilefs
