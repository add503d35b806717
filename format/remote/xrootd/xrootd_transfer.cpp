// SPDX-License-Identifier: Apache-2.0
#include "remote/xrootd/xrootd_transfer.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "remote/xrootd/xrootd_requests.h"
#include "remote/xrootd/xrootd_watch.h"
#include "tfile/errnos.h"
#include "tfile/mutex.h"

namespace tfile::xrootd {
namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

// A connection that was idle for long may have ended, so the first attempt comes at once. A server that starts again is
// there after some seconds. The pause doubles with each attempt.
constexpr std::chrono::milliseconds kTransferPauseMin{250}, kTransferPauseMax{4'000};

// While a server answers requests that were sent before, one may wait behind them for so many times the time-out.
constexpr int kPatience = 4;

class FileTransfer : public std::enable_shared_from_this<FileTransfer> {
 public:
  FileTransfer(std::shared_ptr<XrootdFile> file, std::vector<XrootdRequest> requests,
               std::vector<std::span<std::byte>> into, Source::ReadDone done)
      : file_(std::move(file)), requests_(std::move(requests)), into_(std::move(into)), done_(std::move(done)) {
    requests_left_.resize(requests_.size() + (file_->is_look_due() ? 1 : 0));
    left_ = requests_left_.size();
  }

  void start() {
    // Nobody else would end it where the server is silent.
    if (!watch([self = shared_from_this()](Time now) { return self->watched(now); }))
      return end(fail(ErrorKind::io, file_->shown() + ": no thread could be created", -1, errnos::kNoThread));
    connect();
    stop_.emplace(file_->options().stop, Stopped{this});
  }

 private:
  // If a connection fails while it brings an answer in several frames, the library (5.5) never tells that this request
  // has failed. So when the file is open again, all that was sent on another connection is sent again. The first answer
  // counts.
  struct Left {
    const OpenFile* sent_on = nullptr;  // null: to be sent
    bool is_done = false;
  };

  void connect();
  void connected(const Answer<std::shared_ptr<OpenFile>>& connection);
  void send(std::size_t index, const std::shared_ptr<OpenFile>& connection);
  void send_look(const std::shared_ptr<OpenFile>& connection);
  void answered(std::size_t index, const std::shared_ptr<OpenFile>& connection, std::span<const std::byte> bytes,
                const Answer<>& answer);
  void failed(const Failure&);
  void refused(const Failure&, const std::shared_ptr<OpenFile>& connection);
  bool watched(Time now);
  bool is_one_unsent() const REQUIRES(mutex_) {
    return std::ranges::any_of(requests_left_, [](const Left& left) { return !left.is_done && !left.sent_on; });
  }
  void end(Result<> result);
  Error time_out_error();

  struct Stopped {
    FileTransfer* transfer;
    void operator()() const {
      transfer->end(fail(ErrorKind::io, transfer->file_->shown() + ": cancelled, reading was stopped"));
    }
  };

  const std::shared_ptr<XrootdFile> file_;
  const std::vector<XrootdRequest> requests_;
  const std::vector<std::span<std::byte>> into_;
  const Time begin_ = Clock::now();
  XrootdTurn turn_{file_->server()};

  Mutex mutex_{"FileTransfer::mutex_", "", "a read"};
  Source::ReadDone done_ GUARDED_BY(mutex_);            // empty when the transfer has ended
  std::vector<Left> requests_left_ GUARDED_BY(mutex_);  // for each request; one more is the look at the file's state
  std::size_t left_ GUARDED_BY(mutex_) = 0;
  bool connecting_ GUARDED_BY(mutex_) = false;
  Time last_own_answer_ GUARDED_BY(mutex_) = begin_;
  Time retry_at_ GUARDED_BY(mutex_) = begin_;
  Clock::duration pause_ GUARDED_BY(mutex_){0};
  std::optional<Failure> last_failure_ GUARDED_BY(mutex_);

  std::optional<std::stop_callback<Stopped>> stop_;  // last: its destructor waits for a call that is under way
};

void FileTransfer::connect() {
  {
    const Lock lock(mutex_);
    connecting_ = true;
  }
  file_->with_connection([self = shared_from_this()](const auto& connection) { self->connected(connection); });
}

void FileTransfer::connected(const Answer<std::shared_ptr<OpenFile>>& connection) {
  std::vector<std::size_t> unsent;
  {
    const Lock lock(mutex_);
    connecting_ = false;
    if (!done_) return;
    for (std::size_t i = 0; connection && i < requests_left_.size(); ++i) {
      Left& left = requests_left_[i];
      if (left.is_done || left.sent_on == connection->get()) continue;
      left.sent_on = connection->get();
      unsent.push_back(i);
    }
  }
  if (file_->is_stale()) return end(tl::unexpected<Error>(file_->stale_error()));
  if (!connection) return failed(connection.error());
  // The look last: it tells of the state that the bytes are of. The server answers in this order.
  for (const std::size_t i : unsent) i < requests_.size() ? send(i, *connection) : send_look(*connection);
}

void FileTransfer::send(std::size_t index, const std::shared_ptr<OpenFile>& connection) {
  const XrootdRequest& request = requests_[index];
  const auto memory = std::make_shared<Buffer>(request.size, Use::passing);
  file_->counts().note_sent(request.size);
  const LineSpeed::Sent sent = file_->server().sent();
  turn_.sent(sent.at);
  connection->read(request.chunks, memory->span(),
                   [self = shared_from_this(), connection, index, memory, sent](const Answer<>& answer) {
                     if (answer)
                       self->file_->server().answered(sent, memory->size());
                     else
                       self->file_->server().failed();
                     self->file_->counts().note_answer();
                     self->file_->counts().note_no_longer_wanted(memory->size());
                     self->answered(index, connection, memory->span(), answer);
                   });
}

void FileTransfer::send_look(const std::shared_ptr<OpenFile>& connection) {
  file_->look(connection, [self = shared_from_this(), connection](const Answer<>& answer) {
    self->answered(self->requests_.size(), connection, {}, answer);
  });
}

void FileTransfer::answered(std::size_t index, const std::shared_ptr<OpenFile>& connection,
                            std::span<const std::byte> bytes, const Answer<>& answer) {
  if (!answer) {
    if (answer.error().connection) file_->drop(connection.get());
    {
      const Lock lock(mutex_);
      if (!done_ || requests_left_[index].is_done || requests_left_[index].sent_on != connection.get()) return;
      requests_left_[index].sent_on = nullptr;
      ++file_->counts().retries;
    }
    return answer.error().connection ? failed(answer.error()) : refused(answer.error(), connection);
  }
  file_->counts().bytes += bytes.size();
  bool last = false;
  {
    // Held over the copy: when the transfer has ended, the memory is no longer ours.
    const Lock lock(mutex_);
    if (!done_ || requests_left_[index].is_done) return;
    if (index < requests_.size())
      for (const auto& [from, range, place, size] : requests_[index].copies)
        std::memcpy(into_[range].data() + place, bytes.data() + from, size);
    requests_left_[index].is_done = true;
    last_own_answer_ = Clock::now();
    pause_ = Clock::duration(0);
    last_failure_.reset();
    last = --left_ == 0;
  }
  if (!last) return;
  end(file_->is_stale() ? Result<>(tl::unexpected<Error>(file_->stale_error())) : Result<>());
}

// A file that was truncated refuses what lies beyond its new end. So its state is looked at before the error is told.
void FileTransfer::refused(const Failure& failure, const std::shared_ptr<OpenFile>& connection) {
  if (!file_->can_look()) return failed(failure);
  file_->look(connection, [self = shared_from_this(), connection, failure](const Answer<>&) { self->failed(failure); });
}

// A request has failed, or the attempt to connect. What waits is sent again after a pause.
void FileTransfer::failed(const Failure& failure) {
  if (file_->is_stale()) return end(tl::unexpected<Error>(file_->stale_error()));
  if (!failure.connection) return end(tl::unexpected<Error>(file_->error(failure)));
  {
    const Lock lock(mutex_);
    if (!done_) return;
    last_failure_ = failure;
    const Time now = Clock::now();
    if (connecting_ || retry_at_ > now) return;  // one attempt for all requests that fail together
    retry_at_ = now + pause_;
    const bool at_once = pause_ == Clock::duration(0);
    pause_ = std::clamp<Clock::duration>(pause_ * 2, kTransferPauseMin, kTransferPauseMax);
    if (!at_once) return;
  }
  connect();
}

bool FileTransfer::watched(Time now) {
  bool again = false, over = false;
  {
    const Lock lock(mutex_);
    if (!done_) return false;
    const Time last = std::max(last_own_answer_, turn_.last_before());
    over = now - last > file_->options().timeout || now - last_own_answer_ > kPatience * file_->options().timeout;
    again = !over && !connecting_ && now >= retry_at_ && is_one_unsent();
  }
  if (over) {
    file_->drop(nullptr);
    end(tl::unexpected<Error>(time_out_error()));
  }
  if (again) connect();
  return !over;
}

Error FileTransfer::time_out_error() {
  const auto seconds = std::chrono::duration<double>(file_->options().timeout).count();
  char tried[64];
  std::snprintf(tried, sizeof tried, "for %g s", seconds);
  const Lock lock(mutex_);
  if (!last_failure_) return {ErrorKind::timed_out, file_->shown() + ": no answer " + tried};
  Error error = file_->error(*last_failure_);
  error.text.append(", ").append(tried);
  return error;
}

// The thread that takes `done_` is the only one to call it, without the mutex.
void FileTransfer::end(Result<> result) {
  Source::ReadDone done;
  {
    const Lock lock(mutex_);
    done = std::exchange(done_, nullptr);
  }
  if (done) done(std::move(result));
}

}  // namespace

void start_transfer(std::shared_ptr<XrootdFile> file, std::span<const ByteRange> ranges,
                    std::vector<std::span<std::byte>> into, Source::ReadDone done) {
  std::vector<XrootdRequest> requests = xrootd_requests(ranges, file->limits());
  file->counts().ranges += ranges.size();
  std::make_shared<FileTransfer>(std::move(file), std::move(requests), std::move(into), std::move(done))->start();
}

}  // namespace tfile::xrootd
