// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuse_lowlevel.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "content.h"
#include "exec/timers.h"
#include "fuse/errno.h"
#include "fuse/pending_signals.h"
#include "mutex.h"
#include "reply.h"
#include "request_times.h"

namespace tfilefs {

// A request of the kernel between its arrival and its one answer, which comes from the first to claim it: the
// operation, or an interrupt. libfuse frees the request with the answer, so it must not be touched without a claim.
class PendingRequest : public std::enable_shared_from_this<PendingRequest> {
 public:
  // `clock`: is stopped by the claim. `session_end`: stopped when the session ends; after that no answer is received
  // any more. `timers`: wake a request that outlasts a signal, since the kernel tells of the first one only.
  PendingRequest(fuse_req_t request, RequestClock clock, Interrupts interrupts, const std::stop_source& session_end,
                 Timers& timers)
      : request_(request),
        clock_(clock),
        thread_(fuse_req_ctx(request)->pid),
        interrupts_(interrupts),
        session_end_(session_end),
        timers_(timers) {}

  // True for exactly one caller, which must then answer. The operation's claim, not the interrupt's.
  bool claim() EXCLUDES(mutex_);
  fuse_req_t request() const { return request_; }
  const RequestClock& clock() const { return clock_; }
  // Stopped by an interrupt, and by the end of the session. To be called before honour_interrupts().
  std::stop_token stop_token();

  // From now on a signal that interrupts answers EINTR at once. Called when the operation has not answered on its own
  // thread.
  void honour_interrupts() EXCLUDES(mutex_);

 private:
  static void on_interrupt(fuse_req_t, void* pending);
  void look_for_signals_again();
  void give_up();

  const fuse_req_t request_;
  const RequestClock clock_;
  const pid_t thread_;
  const Interrupts interrupts_;
  const std::stop_source& session_end_;
  Timers& timers_;
  std::stop_source stop_token_{std::nostopstate};  // most requests are answered at once, and need none
  struct Ends {
    std::stop_source stop;
    void operator()() { stop.request_stop(); }
  };
  std::optional<std::stop_callback<Ends>> ends_;  // used by the registering thread alone
  std::atomic<bool> claimed_ = false;
  Mutex mutex_{"PendingRequest::mutex_"};
  bool registered_ GUARDED_BY(mutex_) = false;
  bool interrupted_early_ = false;  // used by the registering thread alone
};
using PendingPtr = std::shared_ptr<PendingRequest>;

// A Reply that answers a request: an error with its errno, a value through `deliver(request, value)`, which returns the
// result of libfuse's fuse_reply_*. `undo(value)` is called if the value was not delivered (the request was
// interrupted), to give back what was counted for it.
template <class T, class Deliver, class Undo>
Reply<T> reply_to(const PendingPtr& pending, Deliver deliver, Undo undo) {
  return Reply<T>([pending, deliver = std::move(deliver), undo = std::move(undo)](Result<T> result) mutable {
    if (!pending->claim()) {
      if (result) undo(*result);
    } else if (!result) {
      fuse_reply_err(pending->request(), errno_of(result.error()));
    } else if (deliver(pending->request(), *result) != 0) {
      undo(*result);
    }
  });
}
template <class T, class Deliver>
Reply<T> reply_to(const PendingPtr& pending, Deliver deliver) {
  return reply_to<T>(pending, std::move(deliver), [](const T&) {});
}

// Answers a read from the memory where the bytes lie, without a copy.
int reply_slices(fuse_req_t, const Slices&);

}  // namespace tfilefs
