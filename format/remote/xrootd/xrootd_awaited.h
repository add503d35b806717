// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "tfile/mutex.h"
#include "tfile/source.h"

namespace tfile::xrootd {

// A value that another thread brings. It may come when nobody waits any longer.
template <class T>
class Awaited {
 public:
  void set(T value) {
    const Lock lock(mutex_);
    value_ = std::move(value);
    arrived_.notify_all();
  }
  // False if the time was over, or `stop` was stopped, before the value came.
  bool wait(const RemoteOptions& options) { return wait(options.stop, options.timeout); }
  bool wait(const std::stop_token& stop, std::chrono::steady_clock::duration time) {
    const auto end = std::chrono::steady_clock::now() + time;
    const std::stop_callback wake(stop, [this] {
      const Lock lock(mutex_);
      arrived_.notify_all();
    });
    const Lock lock(mutex_);
    while (!value_ && !stop.stop_requested() && std::chrono::steady_clock::now() < end)
      arrived_.wait_until(mutex_, end);
    return value_.has_value();
  }
  T take() {
    const Lock lock(mutex_);
    return std::move(*value_);
  }

 private:
  Mutex mutex_{"Awaited::mutex_"};
  Condition arrived_;
  std::optional<T> value_ GUARDED_BY(mutex_);
};

inline Error no_answer(const std::string& shown, const RemoteOptions& options) {
  if (options.stop.stop_requested()) return {ErrorKind::io, shown + ": cancelled, reading was stopped"};
  return {ErrorKind::timed_out, shown + ": no answer for " + std::to_string(options.timeout.count() / 1000) + " s"};
}

}  // namespace tfile::xrootd
