// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "errors.h"

namespace tfilefs {

// The error of work that was stopped, if it was.
inline Result<> not_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) return cancelled("stopped");
  return {};
}

}  // namespace tfilefs
