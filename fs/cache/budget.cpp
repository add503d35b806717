// SPDX-License-Identifier: Apache-2.0
#include "cache/budget.h"

#include <algorithm>
#include <string>
#include <utility>

#include "exec/answering.h"

namespace tfilefs {
Error refusal(std::uint64_t need, std::string_view giver, std::uint64_t given) {
  constexpr std::uint64_t kMegabyte = 1 << 20;
  const auto megabytes = [](std::uint64_t bytes) {
    return std::to_string(bytes / kMegabyte + (bytes % kMegabyte != 0)) + " MB";
  };
  std::string text = megabytes(need) + " needed at once, " + std::string(giver) + " allows " + megabytes(given);
  return {ErrorKind::too_large, std::move(text)};
}

Budget::Reservation Budget::Reservation::split(std::uint64_t bytes) {
  bytes = std::min(bytes, bytes_);
  bytes_ -= bytes;
  return {budget_, bytes, requested_};
}

void Budget::Reservation::give_back(std::uint64_t bytes) {
  if (bytes == 0 || !budget_) return;
  bytes_ -= bytes;
  {
    Lock lock(budget_->mutex_);
    budget_->used_ -= bytes;
    if (requested_) budget_->requested_ -= bytes;
    budget_->freed_ += bytes;
  }
  budget_->pump_elsewhere();
}

void Budget::Reservation::settle(std::uint64_t bytes) {
  shrink(bytes);
  if (bytes <= bytes_ || !budget_) return;
  Lock lock(budget_->mutex_);
  budget_->add(bytes - bytes_, requested_);
  bytes_ = bytes;
}

void Budget::add(std::uint64_t bytes, bool requested) {
  used_ += bytes;
  if (requested) requested_ += bytes;
  peak_ = std::max(peak_.load(), used_.load());
}

void Budget::reserve(std::shared_ptr<Request> request, IfFull if_full) {
  const char* refusal = nullptr;
  {
    Lock lock(mutex_);
    if (closed_) {
      refusal = "the cache is shutting down";
    } else if (if_full == IfFull::fail && !queue_.empty()) {
      refusal = "other readers are waiting for memory";
    } else {
      queue_.push_back({request, if_full});
      ++waiting_;
    }
  }
  if (refusal) return request->denied(Error{ErrorKind::busy, refusal, -1, 0});
  pump();
}

Budget::Reservation Budget::take(std::uint64_t bytes) {
  if (const std::uint64_t missing = shortfall(bytes); missing > 0 && evict_) evict_(missing, Evict::idle);
  Lock lock(mutex_);
  add(bytes, false);
  return {shared_from_this(), bytes, false};
}

void Budget::close() {
  {
    Lock lock(mutex_);
    closed_ = true;
  }
  pump();
}

void Budget::pump_elsewhere() {
  if (waiting_.load() == 0 || will_pump_.exchange(true)) return;
  const auto job = [self = shared_from_this()] {
    self->will_pump_ = false;
    self->pump();
  };
  if (!run_ || !run_(job)) job();
}

// Serves the head of the queue until one has to wait. One thread at a time: another one only asks it to look again.
void Budget::pump() {
  std::list<Waiting> served_now;
  for (;;) {
    Waiting head;
    bool closed = false;
    {
      Lock lock(mutex_);
      if (pumping_) {
        again_ = true;
        break;
      }
      if (queue_.empty()) break;
      pumping_ = true;
      again_ = false;
      head = queue_.front();
      closed = closed_;
    }
    Served served = closed ? Served{.refused = Error{ErrorKind::busy, "the cache is shutting down", -1, 0}}
                           : served_or_refused(head);
    const bool leaves = served.granted || served.refused;
    head.refused = std::move(served.refused);
    Lock lock(mutex_);
    pumping_ = false;
    queue_.front() = std::move(head);  // its need is known now
    if (leaves) {
      served_now.splice(served_now.end(), queue_, queue_.begin());
      --waiting_;
      continue;
    }
    if (!again_) break;
  }
  // One that throws must not keep the others from being answered.
  for (Waiting& one : served_now) {
    if (!one.refused) run_caught([&] { one.request->start(); });
  }
  for (Waiting& one : served_now) {
    if (one.refused) run_caught([&] { one.request->denied(*one.refused); });
  }
}

// If there is no memory to find out what it needs, it is denied. No request keeps the queue from going on.
Budget::Served Budget::served_or_refused(Waiting& head) {
  Served served;
  if (const Result<> all = tried([&] { served = serve(head); }); !all) served.refused = all.error();
  return served;
}

std::uint64_t Budget::shortfall(std::uint64_t need) const {
  const std::uint64_t wanted = used() + need;
  return wanted > size_ ? wanted - size_ : 0;
}

bool Budget::grant(const Waiting& waiting) {
  const std::uint64_t need = waiting.need;
  {
    Lock lock(mutex_);
    const bool fits = need <= size_ && used_ <= size_ - need;
    if (!fits && (requested_ > 0 || waiting.if_full == IfFull::fail)) return false;
    add(need, true);
  }
  waiting.request->claim(Reservation(shared_from_this(), need, true));
  return true;
}

// A request of ten thousand chunks takes milliseconds to tell what it needs, and each of as many chunks given back
// would make it tell again. Its need may have shrunk, if others loaded the same chunks. So it is asked again only after
// 1/kAskAgainShare of its need was given back, and at the latest when no other request holds bytes.
bool Budget::is_worth_asking(const Waiting& waiting) {
  constexpr std::uint64_t kAskAgainShare = 16;
  if (waiting.need == 0 || freed_ - waiting.freed_until >= waiting.need / kAskAgainShare) return true;
  if (const std::uint64_t missing = shortfall(waiting.need); missing > 0) evict_(missing, Evict::any);
  Lock lock(mutex_);
  return requested_ == 0 || used_ + waiting.need <= size_;
}

// First with the free bytes, then also with those of idle chunks. If it still must wait, the chunks that readers hold
// leave the cache too: their bytes come back the moment the readers let go, and that wakes the queue. A chunk that
// stayed in the cache would only become idle, and wake nothing.
Budget::Served Budget::serve(Waiting& head) {
  if (!is_worth_asking(head)) return {};
  head.freed_until = freed_;
  head.need = head.request->prepare();
  if (head.need > kBeyondMax && head.need - kBeyondMax > size_) {
    head.request->retreat();
    return {.refused = refusal(head.need, "memory=", size_)};
  }
  if (grant(head)) return {.granted = true};
  evict_(shortfall(head.need), Evict::idle);
  if (grant(head)) return {.granted = true};
  head.request->retreat();
  if (head.if_full == IfFull::fail) return {.refused = Error{ErrorKind::busy, "no free memory in the cache", -1, 0}};
  evict_(shortfall(head.need), Evict::any);
  head.need = head.request->prepare();
  if (grant(head)) return {.granted = true};
  head.request->retreat();
  return {};
}

}  // namespace tfilefs
