// SPDX-License-Identifier: Apache-2.0
#include "cache/budget.h"

#include <algorithm>
#include <vector>

namespace tfilefs {

Budget::Reservation Budget::Reservation::split(std::uint64_t bytes) {
  bytes = std::min(bytes, bytes_);
  bytes_ -= bytes;
  return {budget_, bytes};
}

void Budget::Reservation::give_back(std::uint64_t bytes) {
  if (bytes == 0 || !budget_) return;
  bytes_ -= bytes;
  {
    Lock lock(budget_->mutex_);
    budget_->used_ -= bytes;
  }
  budget_->changed();
}

void Budget::Reservation::settle(std::uint64_t bytes) {
  shrink(bytes);
  if (bytes <= bytes_ || !budget_) return;
  Lock lock(budget_->mutex_);
  budget_->used_ += bytes - bytes_;
  budget_->peak_ = std::max(budget_->peak_.load(), budget_->used_.load());
  bytes_ = bytes;
}

void Budget::reserve(std::shared_ptr<Request> request, Patience patience) {
  const char* refusal = nullptr;
  {
    Lock lock(mutex_);
    if (closed_) {
      refusal = "the cache is closing";
    } else if (patience == Patience::now_or_never && !queue_.empty()) {
      refusal = "readers wait for memory";
    } else {
      queue_.push_back({request, patience});
      ++waiting_;
    }
  }
  if (refusal) return request->denied(Error{ErrorKind::busy, refusal, -1, 0});
  pump();
}

Budget::Reservation Budget::take(std::uint64_t bytes) {
  if (const std::uint64_t missing = shortfall(bytes); missing > 0 && evict_) evict_(missing, Evict::idle);
  Lock lock(mutex_);
  used_ += bytes;
  peak_ = std::max(peak_.load(), used_.load());
  return {shared_from_this(), bytes};
}

void Budget::close() {
  {
    Lock lock(mutex_);
    closed_ = true;
  }
  pump();
}

// Serves the queue's head until one has to wait. One thread at a time; the others leave it a note.
void Budget::pump() {
  std::vector<std::shared_ptr<Request>> to_start;
  std::vector<std::shared_ptr<Request>> to_deny;
  bool closed = false;
  for (;;) {
    Waiting head;
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
    const bool granted = !closed && serve(head);
    const bool refused = !granted && (closed || head.patience == Patience::now_or_never);
    if (granted) to_start.push_back(head.request);
    if (refused) to_deny.push_back(head.request);
    {
      Lock lock(mutex_);
      pumping_ = false;
      if (granted || refused) {
        queue_.pop_front();
        --waiting_;
      } else if (!again_) {
        break;
      }
    }
  }
  for (auto& request : to_start) request->start();
  for (auto& request : to_deny)
    request->denied(Error{ErrorKind::busy, closed ? "the cache is closing" : "no memory is free", -1, 0});
}

std::uint64_t Budget::shortfall(std::uint64_t need) const {
  const std::uint64_t wanted = used() + need;
  return wanted > size_ ? wanted - size_ : 0;
}

bool Budget::grant(const Waiting& waiting, std::uint64_t need) {
  {
    Lock lock(mutex_);
    if (used_ > 0 && (need > size_ || used_ > size_ - need)) return false;
    used_ += need;
    peak_ = std::max(peak_.load(), used_.load());
  }
  waiting.request->claim(Reservation(shared_from_this(), need));
  return true;
}

// First with what is free, then without what lies idle. If it still must wait, what readers hold leaves the cache too:
// its bytes come back the moment they let go, which wakes the queue, whereas an idle chunk would wake nobody.
bool Budget::serve(const Waiting& head) {
  std::uint64_t need = head.request->prepare();
  if (grant(head, need)) return true;
  evict_(shortfall(need), Evict::idle);
  if (grant(head, need)) return true;
  head.request->retreat();
  if (head.patience == Patience::now_or_never) return false;
  evict_(shortfall(need), Evict::any);
  need = head.request->prepare();
  if (grant(head, need)) return true;
  head.request->retreat();
  return false;
}

}  // namespace tfilefs
