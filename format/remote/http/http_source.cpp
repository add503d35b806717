// SPDX-License-Identifier: Apache-2.0
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "remote/disk/disk_source.h"
#include "remote/http/aws_keys.h"
#include "remote/http/http_read.h"
#include "remote/http/http_s3.h"
#include "remote/http/server_capabilities.h"
#include "remote/server/held_edges.h"
#include "remote/server/interruptible_sleep.h"
#include "remote/server/line_speed.h"
#include "remote/server/protocols.h"
#include "remote/server/url.h"
#include "tfile/request.h"

namespace tfile {
namespace {

using Answers = HttpHost::Answers;
using Clock = std::chrono::steady_clock;

// Each request is one stream of bytes, whose parts are decoded as they arrive. So a request may be long: its bytes come
// in the order in which they are wanted, and the line does not stand still between two of them. Several at once share
// the line, and the first bytes of each come later.
constexpr std::uint64_t kRequestBytes = 64 << 20, kAnswerBytes = 1 << 20;
// A server that answers a single range for each connection, where gaps are read through.
constexpr std::uint64_t kSingleBytes = 8 << 20;
constexpr std::size_t kRangesOfRequest = 4096;

std::uint64_t text_hash(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

// An answer that is kept as a whole, up to so many bytes.
struct RangeAnswer {
  std::optional<AwsKeys> aws;  // that signed the request
  HttpHead head;
  HttpEnd end;
  std::string body;
};

// If a file comes as a whole although a part was asked for, no more is kept.
constexpr std::uint64_t kAnswerMax = 1 << 20;

// Sends a request for a range of so many bytes, and keeps of the answer what was asked for.
std::future<RangeAnswer> ask(const HttpFile& file, std::string range_header, std::uint64_t size, bool new_token) {
  file.counts.note_sent(size);
  file.counts.ranges.fetch_add(1, std::memory_order_relaxed);
  HttpRequest request = request_to(file, std::move(range_header), new_token, false);
  struct Pending {
    RangeAnswer answer;
    std::promise<RangeAnswer> told;
  };
  auto asked = std::make_shared<Pending>();
  asked->answer.aws = request.aws;
  request.on_head = [asked](const HttpHead& head) {
    asked->answer.head = head;
    if (head.is_encoded) return false;
    return head.status == 206 || (head.status == 200 && head.length.value_or(0) <= kAnswerMax);
  };
  request.on_body = [asked](std::span<const std::byte> bytes) {
    asked->answer.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return asked->answer.body.size() <= kAnswerMax;
  };
  // The thread that asked waits for this, so the file is still there.
  request.on_end = [asked, &file, size](const HttpEnd& end) {
    file.counts.note_answer();
    file.counts.note_no_longer_wanted(size);
    file.counts.redirects.fetch_add(end.redirects, std::memory_order_relaxed);
    file.counts.bytes.fetch_add(end.bytes, std::memory_order_relaxed);
    asked->answer.end = end;
    asked->told.set_value(std::move(asked->answer));
  };
  auto future = asked->told.get_future();
  send(std::move(request));
  return future;
}

// Bytes of the file that are kept in memory.
struct Held {
  std::uint64_t begin = 0;
  std::string bytes;
  std::uint64_t end() const { return begin + bytes.size(); }
  FilePiece piece() const { return {begin, std::as_bytes(std::span(bytes))}; }
};

// The result of an opening.
struct Opened {
  std::shared_ptr<HttpFile> file;
  std::shared_ptr<DiskFile> disk;  // null: nothing is kept there
  Held first, last;
  std::array<FilePiece, 2> ends() const { return {first.piece(), last.piece()}; }
};

using Pieces = std::vector<WantedPieces::Piece>;

void add_pieces(const Source::Started& missing, std::size_t read, Pieces& pieces) {
  for (std::size_t i = 0; i < missing.ranges.size(); ++i) pieces.push_back({missing.ranges[i], missing.into[i], read});
}

class HttpSource final : public Source {
 public:
  explicit HttpSource(const Opened& opened)
      : file_(opened.file), begin_held_(opened.first.bytes.size()), end_held_(opened.last.bytes.size()) {
    for (const FilePiece& piece : opened.ends()) held_.keep(piece.begin, piece.bytes);
  }

  const Identity& identity() const override { return file_->identity; }
  Result<Identity> identity_now() const override;
  ServerId origin() const override { return file_->host->origin; }
  const std::string& name() const override { return file_->name; }
  SourceTraits traits() const override;
  SourceCounts counts() const override { return file_->counts.now(); }
  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override;
  void start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                  ReadDone done) const override {
    start_reads(one_read(ranges, into, std::move(done)));
  }
  void start_reads(std::vector<Started> reads) const override;
  Result<std::shared_ptr<const Source>> sibling(std::string_view relative_path) const override;

 private:
  const std::shared_ptr<const HttpFile> file_;
  const std::uint64_t begin_held_, end_held_;
  mutable KeptBytes held_;  // the file's first and last bytes
};

SourceTraits HttpSource::traits() const {
  SourceTraits traits = line_traits(file_->host->line.delay(), file_->host->line.bytes_per_second());
  const HttpHost& host = *file_->host;
  const bool one_by_one = host.several == Answers::wrong && !host.multiplexes;
  // A range more is a request of its own, of which some are under way at once.
  traits.gap_free = one_by_one ? std::max(kRangeCost, traits.bytes_in_flight() / kRequestsAtOnce) : kRangeCost;
  traits.request_max = one_by_one ? kSingleBytes : kRequestBytes;
  traits.answer_bytes = one_by_one ? kSingleBytes : kAnswerBytes;
  traits.ranges_max = kRangesOfRequest;
  traits.requests_max = kRequestsAtOnce;
  traits.tells_changes = true;
  traits.starts_reads = true;
  traits.begin_held = begin_held_;
  traits.end_held = end_held_;
  return traits;
}

void HttpSource::start_reads(std::vector<Started> reads) const {
  Pieces pieces;
  std::vector<ReadDone> done;
  for (Started& read : reads) {
    const Started missing =
        missing_of(read.ranges, read.into, size(),
                   [this](ByteRange range, std::span<std::byte> into) { return held_.copy(range, into); });
    const Result<> lies_in_file = missing.ranges.empty() ? Result<>() : check_range(*this, missing.ranges[0]);
    if (missing.ranges.empty() || !lies_in_file) {
      read.done(lies_in_file);
      continue;
    }
    add_pieces(missing, done.size(), pieces);
    done.push_back(std::move(read.done));
  }
  if (done.empty()) return;
  if (!file_->is_stale) return start_http_reads(file_, std::move(pieces), std::move(done));
  const Result<> stale = fail(ErrorKind::stale, name() + ": changed since it was opened");
  for (const ReadDone& one : done) one(stale);
}

Result<> HttpSource::read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const {
  return start_and_wait(*this, ranges, into);
}

Result<std::shared_ptr<const Source>> HttpSource::sibling(std::string_view relative_path) const {
  TRY(const std::string url, sibling_url(file_->given, relative_path));
  return open_http(url, file_->options);
}

// ---- opening

// An answer to the first question: the file's size, and what tells its states apart.
Result<> take_state(HttpFile& file, const RangeAnswer& answer) {
  const HttpHead& head = answer.head;
  const auto whole = head.status == 200 ? head.length : head.range ? head.range->whole : std::nullopt;
  if (!whole) return fail(ErrorKind::unsupported, file.name + ": the server did not report the size of the file");
  file.etag = head.etag;
  file.identity.size = *whole;
  file.identity.modified_ns = head.modified_ns;
  file.identity.object = {text_hash(file.url), 0};
  file.identity.state = text_hash(head.etag + "/" + std::to_string(head.modified_ns));
  return {};
}

bool is_of_range(const RangeAnswer& answer, std::uint64_t begin, std::uint64_t end) {
  return !answer.end.error && answer.head.status == 206 && answer.head.range &&
         answer.head.range->range.begin == begin && answer.head.range->range.end() == end &&
         answer.body.size() == end - begin;
}

// Errors of an answer that keep the file from being opened.
Result<> check_answer(const HttpFile& file, const RangeAnswer& answer) {
  if (answer.end.error) {
    Error error = *answer.end.error;
    error.text = file.name + ": " + error.text;
    return tl::unexpected<Error>(std::move(error));
  }
  TRY_VOID(check_head(file, answer.head));
  const long status = answer.head.status;
  const bool is_empty = status == 416 && answer.head.range && answer.head.range->whole == 0;
  if (status == 200 || status == 206 || is_empty) return {};
  ErrorKind kind = error_of_status(status).kind;
  if (kind == ErrorKind::stale) kind = ErrorKind::io;  // nothing was opened before
  return fail(kind, file.name + ": the server responded with status " + std::to_string(status));
}

std::string first_range(std::uint64_t end) {
  const ByteRange range{0, end};
  return range_header({&range, 1});
}

bool may_pass(const RangeAnswer& answer) {
  return answer.end.error
             ? answer.end.trouble == HttpEnd::Trouble::passing
             : error_of_status(answer.head.status).is_passing || may_be_signed_anew(answer.aws, answer.head.status);
}

// Repeats a question while the server is busy, or its answer is broken off, for as long as options.timeout.
class Repetition {
 public:
  explicit Repetition(const HttpFile& file) : file_(file) {}

  // Whether to ask once more after this answer. Waits before that.
  bool goes_on(const RangeAnswer& answer) {
    const bool is_refused = !answer.end.error && answer.head.status >= 400 && answer.head.status != 416;
    if (is_refused && note_target(file_, "")) return true;  // a redirect may be good for a while only
    if (answer.head.status == 401 && !answer.aws) return !std::exchange(new_token_, true);
    const auto left = file_.options.timeout - (Clock::now() - begun_);
    if (!may_pass(answer) || left <= pause_) return false;
    const auto pause = std::clamp<Clock::duration>(answer.head.retry_after, pause_, left);
    pause_ *= 2;
    return pause_unless_stopped(file_.options.stop, pause);
  }
  bool wants_new_token() const { return new_token_; }

 private:
  const HttpFile& file_;
  const Clock::time_point begun_ = Clock::now();
  std::chrono::milliseconds pause_{100};
  bool new_token_ = false;
};

// XRootD 5 promises bytes behind the end of a file, and sends none. But it tells the file's size.
bool tells_small_size(const RangeAnswer& answer, std::uint64_t asked) {
  return answer.head.status == 206 && answer.head.range && answer.head.range->whole.value_or(UINT64_MAX) <= asked;
}

// The answers to the questions for a file's beginning and its end.
struct BothEnds {
  RangeAnswer first;
  std::optional<RangeAnswer> last;
};

// Both at once, unless the server is known to refuse a question for the end. If they are likely to be `on_disk`, the
// file's state is all that is asked for.
Result<BothEnds> ask_both_ends(const HttpFile& file, bool on_disk) {
  const HeldEdges edges = held_edges(file.options);
  for (Repetition repetition(file);;) {
    std::optional<std::future<RangeAnswer>> last;
    const std::uint64_t begin = on_disk ? 1 : edges.begin;
    auto first = ask(file, first_range(begin), begin, repetition.wants_new_token());
    if (!on_disk && file.host->suffix != Answers::wrong)
      last = ask(file, "bytes=-" + std::to_string(edges.end), edges.end, repetition.wants_new_token());
    BothEnds ends{first.get(), {}};
    if (last) ends.last = last->get();
    if (tells_small_size(ends.first, edges.begin)) return ends;
    const auto checked = check_answer(file, ends.first);
    if (checked) return ends;
    if (!repetition.goes_on(ends.first)) return tl::unexpected<Error>(checked.error());
  }
}

Result<Opened> take_both_ends(std::shared_ptr<HttpFile> file, BothEnds ends) {
  RangeAnswer& first = ends.first;
  TRY_VOID(take_state(*file, first));
  const HeldEdges edges = held_edges(file->options);
  const std::uint64_t size = file->identity.size, begin = size - std::min(size, edges.end);
  note_target(*file, first.end.url);
  if (first.head.status == 200) file->host->one = Answers::wrong;
  Opened opened{file, {}, {}, {size, {}}};
  const bool is_whole = first.head.status == 200 && first.body.size() == size;
  if (is_whole || is_of_range(first, 0, std::min(size, edges.begin))) opened.first.bytes = std::move(first.body);
  if (!ends.last || size == 0) return opened;
  RangeAnswer& last = *ends.last;
  const bool is_same = !last.end.error && check_head(*file, last.head) && check_state(*file, last.head);
  const bool is_right = is_same && is_of_range(last, begin, size);
  if (!last.end.error) file->host->suffix = is_right ? Answers::right : Answers::wrong;
  if (is_right)
    opened.last = {begin, std::move(last.body)};
  else if (is_same && last.head.status == 200 && last.body.size() == size)
    opened.last = {0, std::move(last.body)};
  return opened;
}

// Bytes of the file that are still to come.
struct Gap {
  std::uint64_t begin = 0;
  std::string bytes;
  std::span<std::byte> span() { return std::as_writable_bytes(std::span(bytes)); }
};

// Asks together for all that the disk does not have.
Result<> fill(const Opened& opened, std::span<Gap> gaps) {
  std::vector<ByteRange> ranges;
  std::vector<std::span<std::byte>> into;
  for (Gap& gap : gaps) {
    ranges.push_back({gap.begin, gap.bytes.size()});
    into.push_back(gap.span());
  }
  Pieces missing;
  add_pieces(missing_on_disk(opened.disk.get(), ranges, into, opened.file->identity.size), 0, missing);
  if (missing.empty()) return {};
  auto told = std::make_shared<std::promise<Result<>>>();
  start_http_reads(opened.file, std::move(missing), {[told](Result<> result) { told->set_value(std::move(result)); }});
  return told->get_future().get();
}

// Asks for the rest of the ends; for a small file all.
Result<> complete_ends(Opened& opened) {
  const HeldEdges edges = held_edges(opened.file->options);
  const std::uint64_t size = opened.file->identity.size;
  Held& first = opened.first;
  Held& last = opened.last;
  const std::uint64_t first_end = first.bytes.empty() ? std::min(size, edges.begin) : first.end();
  const std::uint64_t begin = std::min(std::max(edges.end_from(size), first_end), last.begin);
  Gap gaps[] = {{first.end(), std::string(first_end - first.end(), '\0')},
                {begin, std::string(last.begin - begin, '\0')}};
  TRY_VOID(fill(opened, gaps));
  first.bytes += gaps[0].bytes;
  last.bytes.insert(0, gaps[1].bytes);
  last.begin = begin;
  return {};
}

// The disk is only of use if the server tells when the file changes.
void use_disk(Opened& opened) {
  const HttpFile& file = *opened.file;
  if (file.etag.empty() && file.identity.modified_ns == 0) opened.disk = nullptr;
  if (opened.disk) opened.disk->use(file.identity);
}

void keep_ends(const Opened& opened) {
  if (opened.disk && !opened.disk->has_edges()) opened.disk->keep(opened.ends());
}

// The state that the server tells now.
Result<Identity> state_now(const HttpFile& file) {
  Repetition repetition(file);
  RangeAnswer answer = ask(file, first_range(1), 1, false).get();
  while (!check_answer(file, answer) && repetition.goes_on(answer))
    answer = ask(file, first_range(1), 1, repetition.wants_new_token()).get();
  TRY_VOID(check_answer(file, answer));
  HttpFile now;
  now.url = file.url;
  now.name = file.name;
  TRY_VOID(take_state(now, answer));
  const bool is_same = is_same_by_tag(file, now.etag) && now.identity.size == file.identity.size;
  return is_same ? file.identity : now.identity;
}

// The URL that is asked for.
Result<std::string> asked_url(const std::string& url) { return is_s3(url) ? http_url_of_s3(url) : http_url_of(url); }

Result<std::shared_ptr<HttpFile>> file_behind(const std::string& url, const RemoteOptions& options) {
  auto file = std::make_shared<HttpFile>();
  file->given = url;
  TRY(file->url, asked_url(url));
  file->is_s3 = is_s3(url);
  file->name = without_secrets(url);
  // Why a program finds no keys is told here; a request goes without.
  if (const auto keys = file->is_s3 ? aws_keys() : std::nullopt; !keys)
    return fail(keys.error().kind, file->name + ": " + keys.error().text);
  file->options = options;
  file->host = http_host_of(file->url);
  return file;
}

}  // namespace

Result<Identity> HttpSource::identity_now() const { return state_now(*file_); }

Result<Identity> look_http(const std::string& url, const RemoteOptions& options) {
  TRY(const auto file, file_behind(url, options));
  return state_now(*file);
}

ServerId origin_of_http(const std::string& url) {
  const auto asked = asked_url(url);
  return asked ? http_host_of(*asked)->origin : kLocalOrigin;
}

Result<std::shared_ptr<const Source>> open_http(const std::string& url, const RemoteOptions& options) {
  TRY(const auto file, file_behind(url, options));
  recall_abilities(*file->host, options, file->url);
  auto disk = DiskFile::find(options, file->url);
  TRY(BothEnds ends, ask_both_ends(*file, disk && disk->has_edges()));
  TRY(Opened opened, take_both_ends(file, std::move(ends)));
  opened.disk = std::move(disk);
  use_disk(opened);
  TRY_VOID(complete_ends(opened));
  keep_ends(opened);
  keep_abilities(*file->host, options, file->url);
  return keep_on_disk(std::make_shared<const HttpSource>(opened), opened.disk);
}

}  // namespace tfile
