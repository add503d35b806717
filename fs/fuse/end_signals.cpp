// SPDX-License-Identifier: Apache-2.0
#include "fuse/end_signals.h"

#include <pthread.h>

#include <atomic>

namespace tfilefs {
namespace {

std::atomic<Served*> served_here = nullptr;
pthread_t session_thread;

// Comes to the thread that runs the session: threads of libfuse block all signals, and of the others the kernel prefers
// the first. It ends libfuse's wait, which looks whether the session has ended.
void end_session(int signal) {
  Served* const served = served_here;
  if (!served) return;
  served->end_signal = signal;
  if (served->kernel_work == 0) fuse_session_exit(served->session);
}

}  // namespace

EndSignals::EndSignals(Served& served) {
  session_thread = ::pthread_self();
  served_here = &served;
  for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGPIPE}) {
    struct sigaction former {};
    ::sigaction(signal, nullptr, &former);
    if (former.sa_handler != SIG_DFL) continue;
    struct sigaction own {};
    ::sigemptyset(&own.sa_mask);
    own.sa_handler = signal == SIGPIPE ? SIG_IGN : end_session;
    ::sigaction(signal, &own, nullptr);
    former_.emplace_back(signal, former);
  }
}

EndSignals::~EndSignals() {
  for (const auto& [signal, former] : former_) ::sigaction(signal, &former, nullptr);
  served_here = nullptr;
}

void end_by_signal_again() {
  if (const Served* const served = served_here) ::pthread_kill(session_thread, served->end_signal);
}

}  // namespace tfilefs
