// SPDX-License-Identifier: Apache-2.0
#include "fuse/pending_signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>
#include <vector>

namespace tfilefs {
namespace {

// A process that cannot run: its signals wait.
class Stopped {
 public:
  explicit Stopped(std::vector<std::pair<int, sighandler_t>> handlers = {}) : pid_(::fork()) {
    if (pid_ != 0) {
      ::waitpid(pid_, nullptr, WUNTRACED);
      return;
    }
    for (const auto& [signal, handler] : handlers) std::signal(signal, handler);
    std::raise(SIGSTOP);
    ::_exit(0);
  }
  ~Stopped() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  bool is_signalled(int signal, Interrupts which) const {
    ::kill(pid_, signal);
    return tfilefs::is_signalled(pid_, which);
  }

 private:
  const pid_t pid_;
};

void handle(int) {}

TEST(PendingSignals, ThatEndAProcessCount) {
  for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGPIPE}) {
    EXPECT_TRUE(Stopped().is_signalled(signal, Interrupts::fatal)) << signal;
    EXPECT_TRUE(Stopped().is_signalled(signal, Interrupts::stops)) << signal;
  }
}

TEST(PendingSignals, WithAHandlerCountIfTheyTellProgramsToStop) {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGALRM}) {
    EXPECT_FALSE(Stopped({{signal, handle}}).is_signalled(signal, Interrupts::fatal)) << signal;
    EXPECT_TRUE(Stopped({{signal, handle}}).is_signalled(signal, Interrupts::stops)) << signal;
  }
  for (const int signal : {SIGUSR1, SIGPROF, SIGURG, SIGCHLD, SIGWINCH})
    EXPECT_FALSE(Stopped({{signal, handle}}).is_signalled(signal, Interrupts::stops)) << signal;
}

TEST(PendingSignals, ThatDoNothingDoNotCount) {
  EXPECT_FALSE(Stopped({{SIGTERM, SIG_IGN}}).is_signalled(SIGTERM, Interrupts::stops));
  for (const int signal : {0, SIGCHLD, SIGURG, SIGWINCH, SIGTSTP})
    EXPECT_FALSE(Stopped().is_signalled(signal, Interrupts::stops)) << signal;
}

TEST(PendingSignals, ALaterOneIsSeenBesideOthers) {
  const Stopped process({{SIGUSR1, handle}, {SIGTERM, handle}});
  EXPECT_FALSE(process.is_signalled(SIGUSR1, Interrupts::stops));
  EXPECT_TRUE(process.is_signalled(SIGTERM, Interrupts::stops));
  EXPECT_FALSE(process.is_signalled(0, Interrupts::fatal));
  EXPECT_TRUE(process.is_signalled(SIGUSR2, Interrupts::fatal));
}

TEST(PendingSignals, WhatCannotBeSeenCounts) {
  EXPECT_TRUE(is_signalled(0, Interrupts::fatal));
  EXPECT_TRUE(is_signalled(::getpid(), Interrupts::all));
  EXPECT_FALSE(is_signalled(::getpid(), Interrupts::stops));
}

}  // namespace
}  // namespace tfilefs
