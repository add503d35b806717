// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_question.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "remote/http/http_client.h"
#include "remote/http/http_host.h"
#include "remote/http/http_read.h"
#include "remote/http/http_token.h"
#include "remote/server/interruptible_sleep.h"

namespace tfile {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The first pause before asking again.
constexpr milliseconds kQuestionPause{100};
// An answer that comes more slowly than this, beyond the time-out, is not waited for.
constexpr double kBytesPerSecondMin = 4096;

// One attempt, as the client's thread sees it.
struct Attempt {
  std::optional<AwsKeys> aws;  // that signed the request
  HttpHead head;
  HttpEnd end;
  std::optional<Error> error;  // of what came
  std::uint64_t bytes = 0;
  std::promise<void> ended;
};

class Asking {
 public:
  Asking(const HttpQuestion& question, const RemoteOptions& options, SourceCounts& counts)
      : question_(question), options_(options), counts_(counts) {}

  Result<HttpReply> run();

 private:
  HttpRequest request(milliseconds left) const;
  std::shared_ptr<Attempt> attempt(milliseconds left);
  Result<> take(Attempt&, std::span<const std::byte>) const;
  bool waits(milliseconds pause) const;
  milliseconds left() const;

  const HttpQuestion& question_;
  const RemoteOptions& options_;
  SourceCounts& counts_;
  const Clock::time_point begun_ = Clock::now();
  bool new_token_ = false;
};

milliseconds Asking::left() const {
  return std::chrono::duration_cast<milliseconds>(options_.timeout - (Clock::now() - begun_));
}

HttpRequest Asking::request(milliseconds left) const {
  HttpRequest request;
  request.url = question_.url;
  request.method = question_.method;
  request.body = question_.body;
  request.headers = question_.headers;
  if (question_.is_s3) request.aws = aws_keys().value_or(std::nullopt);
  if (!request.aws && is_confidential(request.url)) request.token = bearer_token(new_token_);
  // If one attempt stays without an answer, two more fit within the time.
  request.silence = std::min(left, std::max(options_.timeout / 3, std::min(options_.timeout, milliseconds(1'000))));
  request.stop = options_.stop;
  return request;
}

Result<> Asking::take(Attempt& attempt, std::span<const std::byte> bytes) const {
  attempt.bytes += bytes.size();
  const double late = std::chrono::duration<double>(Clock::now() - begun_ - options_.timeout).count();
  if (late > static_cast<double>(attempt.bytes) / kBytesPerSecondMin)
    return fail(ErrorKind::timed_out, "the server responds too slowly");
  return question_.take(bytes);
}

// The thread that asks waits for the end, so the question is still there.
std::shared_ptr<Attempt> Asking::attempt(milliseconds left) {
  auto attempt = std::make_shared<Attempt>();
  HttpRequest request = this->request(left);
  attempt->aws = request.aws;
  request.on_head = [this, attempt](const HttpHead& head) {
    attempt->head = head;
    if (head.status != question_.wanted) return false;
    if (head.is_encoded) {
      attempt->error = Error{ErrorKind::io, "the server sent compressed bytes, which were not requested", -1, 0};
      return false;
    }
    question_.begin();
    return true;
  };
  request.on_body = [this, attempt](std::span<const std::byte> bytes) {
    auto taken = take(*attempt, bytes);
    if (!taken) attempt->error = std::move(taken).error();
    return !attempt->error;
  };
  request.on_end = [attempt](const HttpEnd& end) {
    attempt->end = end;
    attempt->ended.set_value();
  };
  auto ended = attempt->ended.get_future();
  send(std::move(request));
  ended.get();
  ++counts_.requests;
  ++counts_.round_trips;
  counts_.redirects += attempt->end.redirects;
  counts_.bytes += attempt->end.bytes;
  return attempt;
}

// False if the time does not reach, or if the mount ends meanwhile.
bool Asking::waits(milliseconds pause) const { return left() > pause && pause_unless_stopped(options_.stop, pause); }

Result<HttpReply> Asking::run() {
  for (milliseconds pause = kQuestionPause;; pause *= 2) {
    const auto attempt = this->attempt(std::max(left(), kQuestionPause));
    const HttpEnd& end = attempt->end;
    const long status = attempt->head.status;
    std::optional<Error> error = attempt->error ? attempt->error : end.error;
    if (!error && status == 401 && !attempt->aws && !std::exchange(new_token_, true)) {
      ++counts_.retries;
      continue;
    }
    const bool may_pass =
        !attempt->error && (end.error ? end.trouble == HttpEnd::Trouble::passing
                                      : error_of_status(status).is_passing || may_be_signed_anew(attempt->aws, status));
    if (may_pass && waits(std::max<milliseconds>(pause, attempt->head.retry_after))) {
      ++counts_.retries;
      continue;
    }
    if (!error) return HttpReply{status, end.url};
    error->text = question_.shown + ": " + error->text;
    return tl::unexpected<Error>(*std::move(error));
  }
}

}  // namespace

Result<HttpReply> ask(const HttpQuestion& question, const RemoteOptions& options, SourceCounts& counts) {
  return Asking(question, options, counts).run();
}

tl::unexpected<Error> refused_with(const HttpQuestion& question, long status) {
  ErrorKind kind = error_of_status(status).kind;
  if (kind == ErrorKind::stale) kind = ErrorKind::io;  // nothing was opened before
  return fail(kind, question.shown + ": the server responded with status " + std::to_string(status));
}

}  // namespace tfile
