// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <utility>
#include <vector>

#include "fuse/operations.h"

namespace tfilefs {

// While it lives, SIGHUP, SIGINT and SIGTERM end the session, unless they are ignored; SIGPIPE is ignored. libfuse's
// own handlers would end it at once: it drops a request that a thread has just read then, and where forget_pages()
// or forget_name() waits for that request, nobody could end the wait any more. To be made by the thread that runs the
// session; one at a time.
class EndSignals {
 public:
  explicit EndSignals(Served&);
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> former_;
};

// Sends the signal again, for the last of those that it had to wait for.
void end_by_signal_again();

}  // namespace tfilefs
