// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <stop_token>

#include "reply.h"

namespace tfilefs {

// The error of work that was stopped, if it was.
inline Result<> not_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) return tfile::fail(ErrorKind::io, "stopped", -1, ECANCELED);
  return {};
}

inline bool is_stopped(const Error& error) { return error.system_errno == ECANCELED; }

}  // namespace tfilefs
