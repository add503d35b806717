// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>

#include "tfile/mutex.h"

namespace tfile {

// One file of an HTTP server has so many requests under way at once: as many as a browser has connections.
inline constexpr std::size_t kRequestsAtOnce = 8;

// Requests of one file that wait for others to end, unless they share a connection. Any thread.
class RequestLimiter {
 public:
  // Called once, on a thread that calls one of these functions. `is_silent`: the server does not answer others. Returns
  // false if it was not sent after all.
  using Request = std::function<bool(bool is_silent)>;

  // Sends it at once, or when it is its turn. `shares`: requests are streams of one connection.
  void send(Request, bool shares);
  // One that was sent has ended. `is_silent`: without an answer. Those that wait would wait in vain, each in its turn.
  void ended(bool shares, bool is_silent);

 private:
  std::deque<Request> next(bool shares, bool is_silent) REQUIRES(mutex_);

  Mutex mutex_{"RequestLimiter::mutex_", "", "a read"};
  std::size_t under_way_ GUARDED_BY(mutex_) = 0;
  std::deque<Request> waiting_ GUARDED_BY(mutex_);
};

}  // namespace tfile
