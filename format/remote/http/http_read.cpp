// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_read.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "remote/http/http_token.h"
#include "remote/http/server_capabilities.h"
#include "tfile/errnos.h"

namespace tfile {
namespace {

using Clock = std::chrono::steady_clock;
using Answers = HttpHost::Answers;
using std::chrono::milliseconds;

// nginx takes heads of 8 kB, Apache 200 ranges at most unless told otherwise, XRootD 1,024.
constexpr std::size_t kRangesMax = 512, kRangeTextMax = 7000;
// The first pause before asking again, and the longest.
constexpr milliseconds kPauseMin{100}, kPauseMax{5'000};

// If an answer did not come to its end, so many bytes are progress.
constexpr std::uint64_t kProgressMin = 64 << 10;

// One request of a read, and what came of it.
struct Ask {
  std::vector<ByteRange> ranges;         // by address
  std::optional<MultipartReader> parts;  // an answer of several ranges
  std::uint64_t next = 0, end = 0;       // else the offset of the next byte, and of the answer's end
  bool is_taken = false;                 // the answer has bytes of the file
  bool is_whole = false;                 // the answer is the whole file
  std::optional<Error> error;
  bool is_passing = false;                    // the error may pass by itself
  bool asks_anew = false;                     // another way of asking will do
  std::optional<AwsKeys> aws;                 // that signed it
  std::uint64_t fresh = 0;                    // bytes that were still missing
  Clock::time_point fresh_at = Clock::now();  // when some of them came, or the beginning
  std::uint64_t wanted = 0;                   // bytes that are still to come
  std::chrono::seconds retry_after{0};
};

// Some servers and proxies refuse several ranges, or a long head, with one of these.
bool may_mean_ranges(long status) {
  constexpr long kRefusals[] = {400, 413, 414, 416, 431, 500, 501};
  return std::ranges::find(kRefusals, status) != std::end(kRefusals);
}

class HttpRead : public std::enable_shared_from_this<HttpRead> {
 public:
  HttpRead(std::shared_ptr<const HttpFile> file, std::vector<WantedPieces::Piece> pieces,
           std::vector<Source::ReadDone> done)
      : file_(std::move(file)), pieces_(std::move(pieces)), done_(std::move(done)) {}

  void start(milliseconds after);

 private:
  std::vector<std::vector<ByteRange>> asks() const;
  bool send_ask(std::vector<ByteRange> ranges, milliseconds after, bool is_silent);
  bool take_head(Ask&, const HttpHead&);
  bool take_part(Ask&, const HttpHead&);
  bool take_range(Ask&, const HttpHead&);
  void read_parts(Ask&, const std::string& boundary);
  bool take_whole(Ask&, const HttpHead&);
  bool refuse(Ask&, const HttpHead&);
  bool take_parts(Ask&, std::span<const std::byte>);
  bool take_body(Ask&, std::span<const std::byte>);
  void check_end(Ask&, const HttpEnd&);
  void take_end(Ask&, const HttpEnd&);
  void note_abilities(const Ask&) const;
  void settle();
  void tell_whole();
  void finish(const Result<>&);

  const std::shared_ptr<const HttpFile> file_;
  WantedPieces pieces_;
  std::vector<Source::ReadDone> done_;  // of each read; null once it was told
  Clock::time_point progress_ = Clock::now();
  milliseconds pause_ = kPauseMin;
  std::atomic<std::size_t> outstanding_ = 0;
  std::atomic<bool> is_failing_ = false;  // a request of the round: the others that wait are not sent
  // State of the round of requests that is under way:
  std::optional<Error> error_;
  bool is_lasting_ = false, asks_anew_ = false, has_new_token_ = false, wants_token_ = false;
  bool one_by_one_ = false;  // an answer was cut within a part, of which nothing counts then
  std::uint64_t fresh_ = 0;
  std::chrono::seconds retry_after_{0};
};

// The requests of a round: of as many ranges as the server takes.
std::vector<std::vector<ByteRange>> HttpRead::asks() const {
  const std::vector<ByteRange> missing = pieces_.missing();
  std::vector<std::vector<ByteRange>> asks;
  if (file_->host->one == Answers::wrong) {
    asks.push_back({{missing.front().begin, pieces_.end() - missing.front().begin}});
    return asks;
  }
  const bool several = file_->host->several != Answers::wrong && !one_by_one_;
  std::size_t text = 0;
  for (const ByteRange range : missing) {
    const std::size_t more = range_header({&range, 1}).size();
    if (asks.empty() || !several || asks.back().size() == kRangesMax || text + more > kRangeTextMax) {
      asks.emplace_back();
      text = 0;
    }
    asks.back().push_back(range);
    text += more;
  }
  return asks;
}

void HttpRead::start(milliseconds after) {
  const auto self = shared_from_this();  // the last answer may come before this ends
  error_.reset();
  is_lasting_ = asks_anew_ = wants_token_ = false;
  fresh_ = 0;
  retry_after_ = {};
  auto asks = this->asks();
  is_failing_ = false;
  outstanding_ = asks.size();
  for (auto& ranges : asks)
    file_->turns.send(
        [self, ranges = std::move(ranges), after](bool is_silent) { return self->send_ask(ranges, after, is_silent); },
        file_->host->multiplexes);
}

// Not to a server in trouble: it is asked again for all that is missing.
bool HttpRead::send_ask(std::vector<ByteRange> ranges, milliseconds after, bool is_silent) {
  if (is_failing_ || is_silent) {
    if (is_silent && !error_) error_ = Error{ErrorKind::timed_out, file_->name + ": no answer", -1, 0};
    if (--outstanding_ == 0) settle();
    return false;
  }
  auto ask = std::make_shared<Ask>();
  for (const ByteRange range : ranges) ask->wanted += range.size;
  file_->counts.note_sent(ask->wanted);
  file_->counts.ranges.fetch_add(ranges.size(), std::memory_order_relaxed);
  HttpRequest request = request_to(*file_, range_header(ranges), has_new_token_, true);
  request.after = after;
  ask->aws = request.aws;
  ask->ranges = std::move(ranges);
  request.on_head = [self = shared_from_this(), ask](const HttpHead& head) { return self->take_head(*ask, head); };
  request.on_body = [self = shared_from_this(), ask](std::span<const std::byte> bytes) {
    return self->take_body(*ask, bytes);
  };
  request.on_end = [self = shared_from_this(), ask](const HttpEnd& end) { self->take_end(*ask, end); };
  send(std::move(request));
  return true;
}

bool HttpRead::take_head(Ask& ask, const HttpHead& head) {
  file_->counts.note_answer();
  if (head.status != 200 && head.status != 206) return refuse(ask, head);
  for (const auto& check : {check_head, check_state})
    if (auto right = check(*file_, head); !right) {
      ask.error = std::move(right).error();
      return false;
    }
  return head.status == 206 ? take_part(ask, head) : take_whole(ask, head);
}

bool HttpRead::take_part(Ask& ask, const HttpHead& head) {
  ask.is_taken = true;
  if (head.range && head.range->range.size > 0) return take_range(ask, head);
  if (head.is_multipart && !head.boundary.empty()) {
    read_parts(ask, head.boundary);
    return true;
  }
  if (ask.ranges.size() > 1) {
    file_->host->several = Answers::wrong;
    ask.asks_anew = true;
    return false;
  }
  ask.error = Error{ErrorKind::io, file_->name + ": the server's response does not say which bytes it has", -1, 0};
  ask.is_passing = true;
  return false;
}

// Whether a range that an answer names was asked for. It may end earlier, or go on to the next ones (RFC 9110, section
// 15.3.7), but begins where one of them does.
bool is_asked_for(const Ask& ask, ByteRange named) {
  const auto found = std::ranges::lower_bound(ask.ranges, named.begin, {}, &ByteRange::begin);
  return found != ask.ranges.end() && found->begin == named.begin;
}

bool HttpRead::take_range(Ask& ask, const HttpHead& head) {
  const ByteRange named = head.range->range;
  if (is_asked_for(ask, named) && head.length.value_or(named.size) == named.size) {
    ask.next = named.begin;
    ask.end = named.end();
    return true;
  }
  ask.error = Error{ErrorKind::io, file_->name + ": the server sent other bytes than requested", -1, 0};
  ask.is_passing = true;
  return false;
}

// A part that was not asked for, or is of another file, is not confirmed.
void HttpRead::read_parts(Ask& ask, const std::string& boundary) {
  const auto is_right = [this, &ask](const ContentRange& part) {
    return is_asked_for(ask, part.range) && part.whole.value_or(file_->identity.size) == file_->identity.size;
  };
  // Other requests wait for what lies behind.
  const auto counted = [&ask](ByteRange range) {
    range.size = std::min(range.size, ask.ranges.back().end() - range.begin);
    return range;
  };
  ask.fresh_at = Clock::now();
  ask.parts.emplace(
      boundary,
      [this, &ask, is_right, counted](const ContentRange& part, std::uint64_t offset,
                                      std::span<const std::byte> bytes) {
        if (!is_right(part) || offset >= ask.ranges.back().end()) return;
        if (pieces_.put(offset, bytes.first(counted({offset, bytes.size()}).size)) > 0) ask.fresh_at = Clock::now();
      },
      [this, &ask, is_right, counted](const ContentRange& part) {
        if (is_right(part)) ask.fresh += pieces_.confirm(counted(part.range));
      });
}

// All of the file, from its beginning. If several ranges were asked for, one at a time may do.
bool HttpRead::take_whole(Ask& ask, const HttpHead&) {
  if (ask.ranges.size() > 1) {
    file_->host->several = Answers::wrong;
    ask.asks_anew = true;
    return false;
  }
  file_->host->one = Answers::wrong;
  ask.is_taken = ask.is_whole = true;
  ask.end = file_->identity.size;
  return true;
}

bool HttpRead::refuse(Ask& ask, const HttpHead& head) {
  if (ask.ranges.size() > 1 && file_->host->several == Answers::unknown && may_mean_ranges(head.status)) {
    file_->host->several = Answers::wrong;
    ask.asks_anew = true;
    return false;
  }
  if (head.status == 401 && !ask.aws && !has_new_token_) {
    wants_token_ = true;
    ask.asks_anew = true;
    return false;
  }
  // The target of a redirect may be good for a while only.
  if (note_target(*file_, "")) {
    ask.asks_anew = true;
    return false;
  }
  const StatusError error = error_of_status(head.status);
  // The file was there when it was opened.
  const ErrorKind kind = error.kind == ErrorKind::not_found ? ErrorKind::stale : error.kind;
  // That a token has expired is trouble; which names a user may not read is none.
  const bool is_denied = kind == ErrorKind::denied;
  ask.error = Error{is_denied ? ErrorKind::io : kind,
                    file_->name + ": the server responded with status " + std::to_string(head.status), -1,
                    is_denied ? errnos::kAccessDenied : 0};
  ask.is_passing = error.is_passing || may_be_signed_anew(ask.aws, head.status);
  ask.retry_after = head.retry_after;
  return false;
}

// Reads that are whole need not wait for the others.
void HttpRead::tell_whole() {
  for (const std::size_t read : pieces_.take_whole()) std::exchange(done_[read], nullptr)({});
}

// An answer may have more parts than were asked for, and no end.
bool HttpRead::take_parts(Ask& ask, std::span<const std::byte> bytes) {
  const auto fed = ask.parts->feed(bytes);
  tell_whole();
  if (fed && Clock::now() - ask.fresh_at <= file_->options.timeout) return true;
  file_->host->several = Answers::wrong;
  if (!fed) return false;
  ask.error = Error{ErrorKind::io, file_->name + ": the server sent other bytes than requested", -1, 0};
  ask.is_passing = true;
  return false;
}

bool HttpRead::take_body(Ask& ask, std::span<const std::byte> bytes) {
  file_->counts.bytes.fetch_add(bytes.size(), std::memory_order_relaxed);
  const std::uint64_t come = std::min<std::uint64_t>(bytes.size(), ask.wanted);
  ask.wanted -= come;
  file_->counts.note_no_longer_wanted(come);
  if (ask.parts) return take_parts(ask, bytes);
  if (bytes.size() > ask.end - ask.next) {
    ask.error = Error{ErrorKind::io, file_->name + ": the server sent more bytes than it announced", -1, 0};
    ask.is_passing = true;
    return false;
  }
  ask.fresh += pieces_.take(ask.next, bytes);
  ask.next += bytes.size();
  tell_whole();
  // An answer that is read to its end leaves the connection to the next request. A whole file may be long.
  return !ask.is_whole || ask.next < ask.ranges.back().end();
}

// Whether an answer that ended by itself had all that it said.
void HttpRead::check_end(Ask& ask, const HttpEnd& end) {
  if (ask.parts) {
    if (!end.error && !ask.error)
      (void)ask.parts->end();  // an error leaves the part unconfirmed: it is asked for again
    tell_whole();
    one_by_one_ |= ask.parts->is_in_part();
    return;
  }
  const std::uint64_t wanted = ask.is_whole ? std::min(ask.end, ask.ranges.back().end()) : ask.end;
  if (!ask.is_taken || end.error || ask.error || ask.next >= wanted) return;
  ask.error = Error{ErrorKind::io, file_->name + ": the server sent fewer bytes than it announced", -1, 0};
  ask.is_passing = true;
}

void HttpRead::take_end(Ask& ask, const HttpEnd& end) {
  file_->host->line.note(end.delay, end.bytes, end.body);
  file_->counts.note_answer();
  file_->counts.note_no_longer_wanted(std::exchange(ask.wanted, 0));
  file_->counts.redirects.fetch_add(end.redirects, std::memory_order_relaxed);
  if (!end.error) file_->host->multiplexes = end.is_multiplexed;
  if (end.error && !ask.error) {
    ask.error = end.error;
    ask.error->text = file_->name + ": " + ask.error->text;
    ask.is_passing = end.trouble != HttpEnd::Trouble::lasting;
  }
  check_end(ask, end);
  if (!end.error) note_abilities(ask);
  if (ask.is_taken && !end.error && !ask.error) note_target(*file_, end.url);
  // A server that gives some bytes and falls silent, again and again, is not waited for.
  if (!ask.error || ask.fresh >= kProgressMin) fresh_ += ask.fresh;
  retry_after_ = std::max(retry_after_, ask.retry_after);
  asks_anew_ |= ask.asks_anew;
  if (ask.error && !(error_ && is_lasting_)) {
    error_ = ask.error;
    is_lasting_ = !ask.is_passing;
  }
  if (ask.error) is_failing_ = true;
  file_->turns.ended(file_->host->multiplexes, end.error && end.error->kind == ErrorKind::timed_out);
  if (--outstanding_ == 0) settle();
}

// A server that was asked for several ranges and gave all of them is believed from then on.
void HttpRead::note_abilities(const Ask& ask) const {
  if (ask.ranges.size() < 2 || ask.error || ask.asks_anew) return;
  std::uint64_t wanted = 0;
  for (const ByteRange range : ask.ranges) wanted += range.size;
  file_->host->several = ask.fresh >= wanted ? Answers::right : Answers::wrong;
}

void HttpRead::settle() {
  if (pieces_.are_filled()) return finish({});
  if (error_ && is_lasting_) return finish(tl::unexpected<Error>(*error_));
  const Clock::time_point now = Clock::now();
  if (fresh_ > 0) {
    progress_ = now;
    pause_ = kPauseMin;
  }
  if (now - progress_ > file_->options.timeout || file_->options.stop.stop_requested()) {
    if (!error_) error_ = Error{ErrorKind::io, file_->name + ": the server sent other bytes than requested", -1, 0};
    return finish(tl::unexpected<Error>(*error_));
  }
  file_->counts.retries.fetch_add(1, std::memory_order_relaxed);
  has_new_token_ = wants_token_ || has_new_token_;
  milliseconds pause{0};
  if (!asks_anew_ && fresh_ == 0) {
    pause = std::max<milliseconds>(pause_, retry_after_);
    pause_ = std::min(2 * pause_, kPauseMax);
    const auto left = std::chrono::duration_cast<milliseconds>(file_->options.timeout - (now - progress_));
    pause = std::min(pause, std::max(left, kPauseMin));
  }
  start(pause);
}

void HttpRead::finish(const Result<>& result) {
  if (!result && result.error().kind == ErrorKind::stale) file_->is_stale = true;
  keep_abilities(*file_->host, file_->options, file_->url);
  for (Source::ReadDone& done : done_)
    if (done) std::exchange(done, nullptr)(result);
}

// If a request is answered late, two more fit within the time that a reader waits.
milliseconds silence_of(const RemoteOptions& options) {
  return std::max<milliseconds>(options.timeout / 3, std::min<milliseconds>(options.timeout, milliseconds(1'000)));
}

bool is_strong(const std::string& etag) { return etag.size() > 2 && etag.front() == '"'; }

}  // namespace

bool note_target(const HttpFile& file, const std::string& url) {
  const Lock lock(file.mutex);
  const bool forgets = url.empty() && !file.target.empty();
  file.target = url == file.url ? "" : url;
  return forgets;
}

HttpRequest request_to(const HttpFile& file, std::string range_header, bool new_token, bool same) {
  HttpRequest request;
  {
    const Lock lock(file.mutex);
    request.url = file.target.empty() ? file.url : file.target;
  }
  request.headers.push_back("Range: " + std::move(range_header));
  request.headers.push_back("Accept-Encoding: identity");
  if (same && is_strong(file.etag)) request.headers.push_back("If-Match: " + file.etag);
  // A secret goes to the server that the user has named, and to no other.
  const bool is_own = http_server_of(request.url) == http_server_of(file.url);
  if (is_own && file.is_s3) request.aws = aws_keys().value_or(std::nullopt);
  if (is_own && !request.aws && is_confidential(request.url)) request.token = bearer_token(new_token);
  request.silence = silence_of(file.options);
  request.stop = file.options.stop;
  return request;
}

bool is_same_by_tag(const HttpFile& file, const std::string& etag) { return is_strong(etag) && etag == file.etag; }

// Nothing is lost where the same ETag is told without the rest: it alone says which file this is. Of several parts,
// each tells the size.
Result<> check_state(const HttpFile& file, const HttpHead& head) {
  const bool same_by_tag = is_same_by_tag(file, head.etag);
  const bool other_tag = !file.etag.empty() && head.etag != file.etag;
  const bool other_time =
      file.identity.modified_ns != 0 && head.modified_ns != file.identity.modified_ns && !same_by_tag;
  const auto whole = head.status == 200 ? head.length : head.range ? head.range->whole : std::nullopt;
  const bool tells_size = whole || same_by_tag || head.is_multipart;
  if (!other_tag && !other_time && tells_size && whole.value_or(file.identity.size) == file.identity.size) return {};
  return fail(ErrorKind::stale, file.name + ": changed since it was opened");
}

Result<> check_head(const HttpFile& file, const HttpHead& head) {
  if (head.is_encoded)
    return fail(ErrorKind::io, file.name + ": the server sent compressed bytes, which were not requested");
  if (head.contradicts_itself) return fail(ErrorKind::io, file.name + ": the server's response contradicts itself");
  return {};
}

StatusError error_of_status(long status) {
  switch (status) {
    case 401:
    case 403:
    case 407:
      return {ErrorKind::denied, false};
    case 404:
    case 410:
      return {ErrorKind::not_found, false};
    case 408:
    case 425:
    case 429:
      return {ErrorKind::timed_out, true};
    case 412:
    case 416:
      return {ErrorKind::stale, false};
    default:
      return {ErrorKind::io, status >= 500 && status != 501 && status != 505};
  }
}

void start_http_reads(std::shared_ptr<const HttpFile> file, std::vector<WantedPieces::Piece> pieces,
                      std::vector<Source::ReadDone> done) {
  std::make_shared<HttpRead>(std::move(file), std::move(pieces), std::move(done))->start(milliseconds(0));
}

}  // namespace tfile
