// SPDX-License-Identifier: Apache-2.0
#include "remote/xrootd/xrootd_file.h"

#include <xxhash.h>

#include <algorithm>

#include "remote/server/remote_dates.h"
#include "remote/server/url.h"

namespace tfile::xrootd {
namespace {

using Clock = std::chrono::steady_clock;

// Not a date in seconds, so an identity with it is no other file's.
constexpr std::uint64_t kChangedState = std::uint64_t{1} << 63;

}  // namespace

Identity identity_of_state(const std::string& url, const FileState& state) {
  Identity identity;
  identity.size = state.size;
  identity.modified_ns = date_of_seconds(state.modified);
  identity.object = {XXH3_64bits(url.data(), url.size()), 0};
  identity.state = static_cast<std::uint64_t>(state.modified);
  identity.is_of_copy =
      state.server != server_of(url) || xrootd_server(state.server)->role == XrootdServer::Role::proxy;
  return identity;
}

XrootdFile::XrootdFile(std::string url, RemoteOptions options, std::shared_ptr<OpenFile> connection,
                       const FileState& opened, bool path_tells)
    : url_(std::move(url)),
      shown_(without_secrets(url_)),
      options_(std::move(options)),
      server_name_(opened.server),
      modified_(opened.modified),
      identity_(identity_of_state(url_, opened)),
      server_(xrootd_server(opened.server)),
      way_(path_tells && opened.server == server_of(url_) ? Way::path : Way::open_file),
      last_look_(Clock::now().time_since_epoch()),
      connection_(std::move(connection)) {
  if (server_name_ != server_of(url_)) ++counts_.redirects;
}

XrootdLimits XrootdFile::limits() const {
  XrootdLimits limits = server_->limits();
  limits.request_max = xrootd_request_max(server_->speed().bytes_per_second(), options_.timeout);
  return limits;
}

Error XrootdFile::error(const Failure& failure) const {
  return {failure.kind, shown_ + ": " + without_secrets_of(url_, failure.text)};
}

Error XrootdFile::stale_error() const { return {ErrorKind::stale, shown_ + ": changed since it was opened"}; }

void XrootdFile::with_connection(Connected ready) {
  if (stale_) return ready(tl::unexpected<Failure>(Failure{ErrorKind::stale, "changed since it was opened"}));
  std::shared_ptr<OpenFile> connection;
  {
    const Lock lock(mutex_);
    connection = connection_;
    if (!connection) {
      waiting_.push_back(std::move(ready));
      if (std::exchange(opening_, true)) return;
    }
  }
  if (connection) return ready(std::move(connection));
  open_file(url_, [self = shared_from_this()](auto answer) { self->opened(std::move(answer)); });
}

void XrootdFile::opened(Answer<std::shared_ptr<OpenFile>> connection) {
  if (connection) {
    if (const Answer<FileState> now = (*connection)->last_state()) {
      if (now->server != server_of(url_)) ++counts_.redirects;
      judge(*now);
    }
  }
  // The file was there when this was opened, and is there no longer.
  if (!connection && connection.error().kind == ErrorKind::not_found) set_stale();
  std::vector<Connected> waiting;
  {
    const Lock lock(mutex_);
    opening_ = false;
    if (connection && !stale_) connection_ = *connection;
    waiting.swap(waiting_);
  }
  for (const Connected& ready : waiting) ready(connection);
}

void XrootdFile::drop(const OpenFile* failed) {
  std::shared_ptr<OpenFile> dropped;  // let go of without the mutex
  const Lock lock(mutex_);
  if (!failed || connection_.get() == failed) dropped.swap(connection_);
}

bool XrootdFile::is_look_due() {
  auto last = last_look_.load();
  const auto now = Clock::now().time_since_epoch();
  return now - last >= options_.recheck && last_look_.compare_exchange_strong(last, now);
}

void XrootdFile::look(const std::shared_ptr<OpenFile>& connection, Done<> done) {
  const Way way = way_;
  if (way == Way::none) return done({});
  look_by(way, connection,
          [self = shared_from_this(), way, connection, done = std::move(done)](const Answer<>& looked) {
            if (looked || looked.error().connection || self->stale_) return done(looked);
            self->way_ = way == Way::path ? Way::open_file : Way::none;
            self->look(connection, done);
          });
}

void XrootdFile::look_by(Way way, const std::shared_ptr<OpenFile>& connection, Done<> done) {
  if (way == Way::path)
    return look_at_path([done = std::move(done)](const Answer<Identity>& now) {
      done(now ? Answer<>() : tl::unexpected<Failure>(now.error()));
    });
  counts_.note_sent(0);
  connection->look([self = shared_from_this(), connection, done = std::move(done)](const Answer<FileState>& now) {
    self->counts_.note_answer();
    if (now) self->judge(*now);
    done(now ? Answer<>() : tl::unexpected<Failure>(now.error()));
  });
}

void XrootdFile::look_at_path(Done<Identity> done) {
  counts_.note_sent(0);
  xrootd::look_at_path(url_, [self = shared_from_this(), done = std::move(done)](const Answer<FileState>& now) {
    self->counts_.note_answer();
    if (!now) {
      if (now.error().kind == ErrorKind::not_found) self->set_stale();
      return done(tl::unexpected<Failure>(now.error()));
    }
    self->last_look_ = Clock::now().time_since_epoch();
    const bool same = self->is_same_at_path(*now);
    if (!same) self->set_stale();
    if (same && !self->stale_) return done(self->identity_);
    Identity other = identity_of_state(self->url_, *now);
    if (other == self->identity_) other.state |= kChangedState;
    other.is_of_copy = false;
    done(other);
  });
}

bool XrootdFile::is_same_at_path(const FileState& now) {
  if (now.size != identity_.size) return false;
  const Lock lock(mutex_);
  const auto known = std::ranges::find(dates_, now.server, [](const auto& one) { return one.first; });
  if (known != dates_.end()) return known->second == now.modified || has_moving_dates();
  dates_.emplace_back(now.server, now.modified);
  return true;
}

bool XrootdFile::has_moving_dates() const { return server_->role == XrootdServer::Role::proxy; }

void XrootdFile::set_stale() {
  stale_ = true;
  drop(nullptr);
}

void XrootdFile::judge(const FileState& now) {
  const bool same_copy = now.server == server_name_;
  const bool other_date = same_copy && now.modified != modified_ && !has_moving_dates();
  if (now.size != identity_.size || other_date) set_stale();
}

}  // namespace tfile::xrootd
