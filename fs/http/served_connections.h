// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "http/client_watch.h"
#include "http/http_limits.h"
#include "http/http_service.h"
#include "http/microhttpd.h"
#include "mutex.h"

namespace tfilefs {

// Counts the answers that are under way, and lets no more begin once it is closed.
class WorkGate {
 public:
  bool enter() EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    if (!is_closed_) ++inside_;
    return !is_closed_;
  }
  void leave() EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    if (--inside_ == 0) empty_.notify_all();
  }
  void close() EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    is_closed_ = true;
  }
  // Blocks.
  void wait_until_empty() EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    while (inside_ > 0) empty_.wait(mutex_);
  }

 private:
  Mutex mutex_{"WorkGate::mutex_"};
  Condition empty_;
  std::size_t inside_ GUARDED_BY(mutex_) = 0;
  bool is_closed_ GUARDED_BY(mutex_) = false;
};

// The state that the connections of a server share.
struct ServedConnections {
  const HttpService& service;
  const Microhttpd& library;
  const HttpLimits limits;
  const std::shared_ptr<WorkGate> gate = std::make_shared<WorkGate>();
  ClientWatch watch{};
};

}  // namespace tfilefs
