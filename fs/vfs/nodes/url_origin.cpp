// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/url_origin.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "mutex.h"
#include "tfile/errnos.h"
#include "wall_clock.h"

namespace tfilefs {
namespace {

using Clock = std::chrono::steady_clock;
using SourcePtr = std::shared_ptr<const tfile::Source>;

class UrlOrigin final : public FileLocator {
 public:
  UrlOrigin(std::string url, const tfile::RemoteOptions& options) : url_(std::move(url)), options_(options) {}

  Result<SourceState> look() const override {
    const Seen seen = last_seen();
    if (seen.recent) return *seen.recent;
    if (seen.open) return noted(seen.open->identity_now());
    // An opening tells the state, and is what follows.
    auto found = tfile::open_source(url_, options_);
    if (!found) return lost(std::move(found).error());
    SourcePtr opened = *std::move(found);
    const Lock lock(mutex_);
    note(opened->identity());
    last_ = opened;
    ready_ = opened;
    return state_of(opened->identity());
  }

  Result<SourceState> peek() const override {
    const Seen seen = last_seen();
    if (seen.recent) return *seen.recent;
    return noted(seen.open ? seen.open->identity_now() : tfile::look_remote(url_, options_));
  }

  tfile::ServerId server_id() const override { return tfile::origin_of_url(url_); }

  Result<std::shared_ptr<const GuardedSource>> open() const override {
    SourcePtr source;
    {
      const Lock lock(mutex_);
      source = std::exchange(ready_, nullptr);
    }
    if (!source) {
      auto found = tfile::open_source(url_, options_);
      if (!found) return lost(std::move(found).error());
      source = *std::move(found);
    }
    {
      const Lock lock(mutex_);
      note(source->identity());
      last_ = source;
    }
    return GuardedSource::guard(std::move(source));
  }

  Result<tfile::Identity> reach(const CallerPtr&, Access access, const std::string& sibling) const override {
    if (access == Access::write) return tl::unexpected(not_admitted());
    if (sibling.empty()) {
      TRY(const SourceState now, look());
      return now.identity;
    }
    SourcePtr source;
    {
      const Lock lock(mutex_);
      source = last_.lock();
    }
    if (!source) return tl::unexpected(not_admitted());
    TRY(const SourcePtr beside, source->sibling(sibling));
    return beside->identity();
  }

 private:
  struct Seen {
    std::optional<SourceState> recent;  // the state, if it is still believed
    SourcePtr open;
  };
  Seen last_seen() const {
    const Lock lock(mutex_);
    if (known_ && Clock::now() - looked_at_ < options_.recheck) return {state_of(*known_), nullptr};
    return {std::nullopt, last_.lock()};
  }

  Result<SourceState> noted(Result<tfile::Identity> now) const {
    if (!now) return lost(std::move(now).error());
    const Lock lock(mutex_);
    note(*now);
    return state_of(*now);
  }

  void note(const tfile::Identity& now) const REQUIRES(mutex_) {
    known_ = now;
    looked_at_ = Clock::now();
  }

  // That the file is there no longer is trouble, which users are told of.
  tl::unexpected<Error> lost(Error error) const {
    const Lock lock(mutex_);
    if (known_ && error.kind == ErrorKind::not_found) {
      error.kind = ErrorKind::io;
      error.system_errno = tfile::errnos::kNotFound;
    }
    return tl::unexpected(std::move(error));
  }

  static SourceState state_of(const tfile::Identity& identity) {
    return {identity, told_by_server(identity.modified_ns)};
  }

  const std::string url_;
  const tfile::RemoteOptions options_;
  mutable Mutex mutex_{"UrlOrigin::mutex_"};
  mutable std::optional<tfile::Identity> known_ GUARDED_BY(mutex_);
  mutable Clock::time_point looked_at_ GUARDED_BY(mutex_);
  mutable std::weak_ptr<const tfile::Source> last_ GUARDED_BY(mutex_);
  mutable SourcePtr ready_ GUARDED_BY(mutex_);  // opened by a look, for the opening that follows
};

}  // namespace

Provenance told_by_server(std::int64_t modified_ns) {
  static const timespec start = wall_clock();
  Provenance from;
  from.mode = S_IFREG | 0444;
  from.uid = ::geteuid();
  from.gid = ::getegid();
  from.modified = modified_ns > 0 ? timespec{modified_ns / 1'000'000'000, modified_ns % 1'000'000'000} : start;
  from.changed = from.modified;
  return from;
}

std::unique_ptr<const FileLocator> make_url_origin(const std::string& url, const tfile::RemoteOptions& options) {
  return std::make_unique<const UrlOrigin>(url, options);
}

}  // namespace tfilefs
