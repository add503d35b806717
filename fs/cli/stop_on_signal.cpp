// SPDX-License-Identifier: Apache-2.0
#include "cli/stop_on_signal.h"

#include <atomic>
#include <chrono>
#include <csignal>

namespace tfilefs {
namespace {

std::atomic<int> signal_met = 0;

}  // namespace

StopOnSignal::StopOnSignal() {
  struct sigaction action {};
  action.sa_handler = [](int number) { signal_met = number; };
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
  watch_ = std::jthread([this](const std::stop_token& ended) {
    while (!ended.stop_requested()) {
      if (signal_met != 0) stop_.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
}

int StopOnSignal::met() { return signal_met; }

}  // namespace tfilefs
