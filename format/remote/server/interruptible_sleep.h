// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stop_token>

#include "tfile/mutex.h"

namespace tfile {

// Waits for so long, before a server is asked again. False, at once, if `stop` is stopped. Any thread.
inline bool pause_unless_stopped(const std::stop_token& stop, std::chrono::steady_clock::duration time) {
  const auto end = std::chrono::steady_clock::now() + time;
  Mutex pause_mutex{"pause_mutex"};
  Condition stopped;
  const std::stop_callback wake(stop, [&] {
    const Lock lock(pause_mutex);
    stopped.notify_all();
  });
  const Lock lock(pause_mutex);
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < end) stopped.wait_until(pause_mutex, end);
  return !stop.stop_requested();
}

}  // namespace tfile
