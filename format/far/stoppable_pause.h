// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace tfile {

// Waits for so long, before a server is asked again. False, at once, if `stop` is stopped. Any thread.
inline bool pause_unless_stopped(const std::stop_token& stop, std::chrono::steady_clock::duration time) {
  std::mutex pause_mutex;
  std::condition_variable_any never;
  std::unique_lock lock(pause_mutex);
  never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace tfile
