// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "tfile/source.h"

namespace tfile::xrootd {

// A value that another thread brings. It may come when nobody waits any longer.
template <class T>
class Awaited {
 public:
  void set(T value) {
    const std::lock_guard lock(mutex_);
    value_ = std::move(value);
    arrived_.notify_all();
  }
  // False if the time was over, or `stop` was stopped, before the value came.
  bool wait(const FarOptions& options) { return wait(options.stop, options.timeout); }
  bool wait(const std::stop_token& stop, std::chrono::steady_clock::duration time) {
    std::unique_lock lock(mutex_);
    return arrived_.wait_for(lock, stop, time, [this] { return value_.has_value(); });
  }
  T take() {
    const std::lock_guard lock(mutex_);
    return std::move(*value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::optional<T> value_;
};

inline Error no_answer(const std::string& shown, const FarOptions& options) {
  if (options.stop.stop_requested()) return {ErrorKind::io, shown + ": given up, as reading was stopped"};
  return {ErrorKind::timed_out, shown + ": no answer for " + std::to_string(options.timeout.count() / 1000) + " s"};
}

}  // namespace tfile::xrootd
