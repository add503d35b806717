// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "remote/disk/disk_source.h"
#include "remote/server/held_edges.h"
#include "remote/server/interruptible_sleep.h"
#include "remote/server/line_speed.h"
#include "remote/server/origins.h"
#include "remote/server/protocols.h"
#include "remote/server/url.h"
#include "remote/xrootd/xrootd_awaited.h"
#include "remote/xrootd/xrootd_client.h"
#include "remote/xrootd/xrootd_file.h"
#include "remote/xrootd/xrootd_transfer.h"
#include "tfile/request.h"

namespace tfile {
namespace xrootd {
namespace {

// While a server still gives a file that was replaced, the pause between two attempts is shorter than this.
constexpr std::chrono::milliseconds kReplacedMax{400};

// The first pause before a look is tried again.
constexpr std::chrono::milliseconds kLookPauseMin{250};

class XrootdSource final : public Source {
 public:
  explicit XrootdSource(std::shared_ptr<XrootdFile> file)
      : file_(std::move(file)), origin_(origin_of_xrootd(file_->url())) {}

  const Identity& identity() const override { return file_->identity(); }
  Result<Identity> identity_now() const override;
  ServerId origin() const override { return origin_; }
  const std::string& name() const override { return file_->shown(); }
  SourceTraits traits() const override;
  SourceCounts counts() const override { return file_->counts().now(); }
  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override;
  void start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                  ReadDone done) const override;
  Result<std::shared_ptr<const Source>> sibling(std::string_view relative_path) const override;

 private:
  Result<> check(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const;

  const std::shared_ptr<XrootdFile> file_;
  const ServerId origin_;
};

// Asks until there is an answer. Where a server is gone, others may have the file; a redirector finds out after some
// time.
template <class Ask>
Result<Identity> look_for_long(const std::string& url, const RemoteOptions& options, Ask ask) {
  const std::string shown = without_secrets(url);
  const auto end = std::chrono::steady_clock::now() + options.timeout;
  const auto left = [end] { return end - std::chrono::steady_clock::now(); };
  for (auto pause = kLookPauseMin;; pause *= 2) {
    const auto answer = std::make_shared<Awaited<Answer<Identity>>>();
    ask([answer](Answer<Identity> now) { answer->set(std::move(now)); });
    if (!answer->wait(options.stop, left())) return tl::unexpected<Error>(no_answer(shown, options));
    const Answer<Identity> now = answer->take();
    if (now) return *now;
    const bool may_pass = now.error().connection && left() > pause && pause_unless_stopped(options.stop, pause);
    if (!may_pass) return fail(now.error().kind, shown + ": " + without_secrets_of(url, now.error().text));
  }
}

Result<Identity> XrootdSource::identity_now() const {
  return look_for_long(file_->url(), file_->options(),
                       [this](Done<Identity> done) { file_->look_at_path(std::move(done)); });
}

SourceTraits XrootdSource::traits() const {
  const LineSpeed speed = file_->server().speed();
  SourceTraits traits = line_traits(speed.delay(), speed.bytes_per_second());
  traits.gap_free = kRangeCost;
  // An answer is told as a whole. It is in memory twice while it is copied.
  const XrootdLimits limits = file_->limits();
  traits.request_max = traits.answer_bytes = limits.request_max;
  traits.ranges_max = limits.chunks_max;
  traits.requests_max = kXrootdRequestsAtOnce;
  traits.tells_changes = file_->can_look();
  traits.starts_reads = true;
  traits.begin_held = file_->begin_held;
  traits.end_held = file_->end_held;
  return traits;
}

Result<> XrootdSource::check(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const {
  if (ranges.size() != into.size())
    return fail(ErrorKind::invalid, name() + ": number of buffers differs from number of ranges");
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (into[i].size() != ranges[i].size)
      return fail(ErrorKind::invalid, name() + ": buffer size differs from the size of its range");
    TRY_VOID(check_range(*this, ranges[i]));
  }
  if (file_->is_stale()) return tl::unexpected<Error>(file_->stale_error());
  return {};
}

void XrootdSource::start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                              ReadDone done) const {
  if (Result<> fits = check(ranges, into); !fits) return done(std::move(fits));
  Started missing = missing_of(ranges, into, size(), [this](ByteRange range, std::span<std::byte> place) {
    return file_->held.copy(range, place);
  });
  if (!missing.ranges.empty()) return start_transfer(file_, missing.ranges, std::move(missing.into), std::move(done));
  // Bytes in memory take no request. A look that is due is sent, but not waited for: it tells the next read.
  if (file_->is_look_due())
    file_->with_connection([file = file_](const Answer<std::shared_ptr<OpenFile>>& connection) {
      if (connection) file->look(*connection, [keep = *connection](const Answer<>&) {});
    });
  done({});
}

// Waits without a limit of its own, since each transfer ends by itself: in time, or when options.stop is stopped.
Result<> XrootdSource::read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const {
  return start_and_wait(*this, ranges, into);
}

Result<std::shared_ptr<const Source>> XrootdSource::sibling(std::string_view relative_path) const {
  TRY(const std::string url, sibling_url(file_->url(), relative_path));
  return open_xrootd(url, file_->options());
}

Result<std::shared_ptr<OpenFile>> open_and_wait(const std::string& url, const RemoteOptions& options) {
  const std::string shown = without_secrets(url);
  const auto answer = std::make_shared<Awaited<Answer<std::shared_ptr<OpenFile>>>>();
  open_file(url, [answer](auto opened) { answer->set(std::move(opened)); });
  if (!answer->wait(options)) return tl::unexpected<Error>(no_answer(shown, options));
  Answer<std::shared_ptr<OpenFile>> opened = answer->take();
  if (opened) return std::move(*opened);
  return fail(opened.error().kind, shown + ": " + without_secrets_of(url, opened.error().text));
}

// The opening brings these in one wave: the server's limits and role, the path's state, with which later looks are
// compared, and the file's first and last bytes, if the disk does not have them. The path's state and the bytes are
// waited for: a server answers in any order. Error: stale, if another file stands at the path.
Result<> fetch_edges(const std::shared_ptr<XrootdFile>& file, const std::string& server, DiskFile* disk) {
  if (file->server().are_limits_unasked()) {
    query_config(file->url(), server, "readv_iov_max readv_ior_max", [file](const Answer<std::string>& limits) {
      if (limits) file->server().set_limits(*limits);
    });
    ask_role(file->url(), server, [file](const Answer<XrootdServer::Role>& role) {
      if (role) file->server().role = *role;
    });
  }
  const auto looked = std::make_shared<Awaited<Answer<Identity>>>();
  const bool looks = file->looks_at_path();
  if (looks) file->look_at_path([looked](Answer<Identity> now) { looked->set(std::move(now)); });

  const HeldEdges edges = held_edges(file->options());
  const std::uint64_t size = file->identity().size;
  const bool whole = size <= std::max(edges.whole_max, edges.begin + edges.end);
  Buffer begin(whole ? size : edges.begin), end(whole ? 0 : edges.end);
  const ByteRange ranges[] = {{0, begin.size()}, {size - end.size(), end.size()}};
  const std::span<std::byte> places[] = {begin.span(), end.span()};
  const Source::Started missing = missing_on_disk(disk, ranges, places, size);
  if (!missing.ranges.empty()) {
    std::promise<Result<>> read;
    start_transfer(file, missing.ranges, missing.into, [&](Result<> ended) { read.set_value(std::move(ended)); });
    TRY_VOID(read.get_future().get());
  }
  if (looks && !looked->wait(file->options())) return tl::unexpected<Error>(no_answer(file->shown(), file->options()));
  if (file->is_stale()) return tl::unexpected<Error>(file->stale_error());
  const FilePiece pieces[] = {{0, begin.span()}, {size - end.size(), end.span()}};
  for (const FilePiece& piece : pieces) file->held.keep(piece.begin, piece.bytes);
  file->begin_held = begin.size();
  file->end_held = whole ? size : end.size();
  if (disk && !missing.ranges.empty()) disk->keep(pieces);
  return {};
}

Result<std::shared_ptr<const Source>> open_once(const std::string& url, const RemoteOptions& options, bool path_tells) {
  const std::string shown = without_secrets(url);
  const auto begin = std::chrono::steady_clock::now();
  TRY(std::shared_ptr<OpenFile> connection, open_and_wait(url, options));
  // A new connection takes four round trips: TCP, protocol, login, open.
  const auto delay = (std::chrono::steady_clock::now() - begin) / 4;
  const Answer<FileState> state = connection->last_state();
  if (!state) return fail(state.error().kind, shown + ": " + without_secrets_of(url, state.error().text));
  const auto file = std::make_shared<XrootdFile>(url, options, std::move(connection), *state, path_tells);
  file->server().guess_delay(delay);
  const auto disk = DiskFile::find(options, url);
  if (disk) disk->use(file->identity());
  TRY_VOID(fetch_edges(file, state->server, disk.get()));
  return keep_on_disk(std::make_shared<const XrootdSource>(file), disk);
}

Result<> prepare(const std::string& url, const RemoteOptions& options) {
  prepare_client(options.timeout);
  if (server_of(url).empty())
    return fail(ErrorKind::invalid, without_secrets(url) + ": not the URL of an XRootD server");
  return {};
}

}  // namespace
}  // namespace xrootd

Result<std::shared_ptr<const Source>> open_xrootd(const std::string& url, const RemoteOptions& options) {
  using namespace xrootd;
  TRY_VOID(prepare(url, options));
  // A file that was replaced may still be open here, for a moment: its request to close is on the way. If it stays
  // open, another user reads it. Then that file is what the server gives, and what is read.
  for (std::chrono::milliseconds pause{20}; pause < kReplacedMax; pause *= 2) {
    auto source = open_once(url, options, true);
    if (source || source.error().kind != ErrorKind::stale) return source;
    std::this_thread::sleep_for(pause);
  }
  return open_once(url, options, false);
}

Result<Identity> look_xrootd(const std::string& url, const RemoteOptions& options) {
  using namespace xrootd;
  TRY_VOID(prepare(url, options));
  return look_for_long(url, options, [&url](Done<Identity> done) {
    look_at_path(url, [url, done = std::move(done)](const Answer<FileState>& now) {
      done(now ? Answer<Identity>(identity_of_state(url, *now)) : tl::unexpected<Failure>(now.error()));
    });
  });
}

ServerId origin_of_xrootd(const std::string& url) { return origin_of_server("root://" + xrootd::server_of(url)); }

}  // namespace tfile
