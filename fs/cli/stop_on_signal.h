// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <thread>

namespace tfilefs {

// SIGINT, SIGTERM and SIGHUP end the work, so that nothing is left behind.
class StopOnSignal {
 public:
  StopOnSignal();
  std::stop_token token() const { return stop_.get_token(); }
  // The signal; 0: none came.
  static int met();

 private:
  std::stop_source stop_;
  std::jthread watch_;
};

}  // namespace tfilefs
