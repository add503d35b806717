// SPDX-License-Identifier: Apache-2.0
#include "remote/http/request_limiter.h"

#include <utility>

namespace tfile {

void RequestLimiter::send(Request request, bool shares) {
  {
    const Lock lock(mutex_);
    if (under_way_ >= kRequestsAtOnce && !shares) {
      waiting_.push_back(std::move(request));
      return;
    }
    ++under_way_;
  }
  if (!request(false)) ended(shares, false);
}

// Takes those whose turn it is. They count as under way.
std::deque<RequestLimiter::Request> RequestLimiter::next(bool shares, bool is_silent) {
  std::deque<Request> found;
  while (!waiting_.empty() && (under_way_ < kRequestsAtOnce || shares || is_silent)) {
    found.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    ++under_way_;
  }
  return found;
}

void RequestLimiter::ended(bool shares, bool is_silent) {
  for (std::size_t gone = 1;;) {
    std::deque<Request> turn;
    {
      const Lock lock(mutex_);
      under_way_ -= std::exchange(gone, 0);
      turn = next(shares, is_silent);
    }
    if (turn.empty()) return;
    for (const Request& request : turn) gone += request(is_silent) ? 0 : 1;
    is_silent = false;  // what has come meanwhile is newer
  }
}

}  // namespace tfile
