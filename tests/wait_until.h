// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

// Waits until seen() is true, at most so long; whether it is.
template <class Seen>
bool wait_until(Seen seen, std::chrono::milliseconds time = std::chrono::seconds(10)) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!seen()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}
