// SPDX-License-Identifier: Apache-2.0
#include "fuse/fuse_reply.h"

#include <sys/uio.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

namespace tfilefs {
namespace {
// Set while this thread registers. libfuse may then call on_interrupt from inside the registration, and answering there
// would free the request that libfuse is still using.
thread_local const PendingRequest* registering = nullptr;

// So long a process that got another signal before may take to end.
constexpr std::chrono::milliseconds kSignalsSeenWithin{100};
}  // namespace

bool PendingRequest::claim() {
  if (claimed_.exchange(true)) return false;
  clock_.stop();
  const Lock lock(mutex_);
  // Returns when no on_interrupt runs any more: libfuse holds the request's lock around it.
  if (registered_) fuse_req_interrupt_func(request_, nullptr, nullptr);
  return true;
}

std::stop_token PendingRequest::stop_token() {
  if (!stop_token_.stop_possible()) stop_token_ = std::stop_source();
  return stop_token_.get_token();
}

void PendingRequest::honour_interrupts() {
  {
    const Lock lock(mutex_);
    if (claimed_) return;
    registered_ = true;
    registering = this;
    fuse_req_interrupt_func(request_, &PendingRequest::on_interrupt, this);
    registering = nullptr;
  }
  if (stop_token_.stop_possible()) ends_.emplace(session_end_.get_token(), Ends{stop_token_});
  if (!interrupted_early_) return;
  if (is_signalled(thread_, interrupts_)) return give_up();
  look_for_signals_again();
}

// Must not be called by libfuse, which holds the request's lock then.
void PendingRequest::give_up() {
  if (!claim()) return;
  fuse_reply_err(request_, EINTR);
  stop_token_.request_stop();
}

void PendingRequest::look_for_signals_again() {
  timers_.after(kSignalsSeenWithin, [waiting = weak_from_this()] {
    const auto pending = waiting.lock();
    if (!pending || pending->claimed_) return;
    if (is_signalled(pending->thread_, pending->interrupts_)) return pending->give_up();
    pending->look_for_signals_again();
  });
}

void PendingRequest::on_interrupt(fuse_req_t request, void* data) {
  auto* pending = static_cast<PendingRequest*>(data);
  if (registering == pending) {
    pending->interrupted_early_ = true;
    return;
  }
  if (!is_signalled(pending->thread_, pending->interrupts_)) return pending->look_for_signals_again();
  // After the claim `pending` is not used again: the operation may drop it from now on.
  std::stop_source stop = pending->stop_token_;
  const RequestClock clock = pending->clock_;
  if (pending->claimed_.exchange(true)) return;
  clock.stop();
  fuse_reply_err(request, EINTR);
  stop.request_stop();
}

int reply_slices(fuse_req_t request, const Slices& slices) {
  // writev takes IOV_MAX (1024) pieces, and libfuse needs one of them. A column of tiny baskets has more.
  constexpr std::size_t kVectorsMax = 1000;
  if (slices.pieces.size() > kVectorsMax) {
    std::string joined;
    joined.reserve(slices.size());
    for (const auto piece : slices.pieces) joined.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return fuse_reply_buf(request, joined.data(), joined.size());
  }
  std::vector<iovec> pieces;
  pieces.reserve(slices.pieces.size());
  for (const auto piece : slices.pieces) pieces.push_back({const_cast<std::byte*>(piece.data()), piece.size()});
  return fuse_reply_iov(request, pieces.data(), static_cast<int>(pieces.size()));
}

}  // namespace tfilefs
