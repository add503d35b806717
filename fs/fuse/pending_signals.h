// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tfilefs {

// The signals that give a request up before its answer. By signal(7) calls on files end with EINTR only where they wait
// for others; and Go's programs, profilers and those that wait for children get signals all the time.
enum class Interrupts : std::uint8_t {
  fatal,  // those that end the process: who is told EINTR of a change may make it twice
  stops,  // also those that tell a program to stop, if it has a handler for them: INT, QUIT, TERM, HUP, ALRM
  all,
};

// Whether a signal of that kind waits for the thread. True as well if that cannot be seen (no /proc, or a thread of
// another namespace: 0).
bool is_signalled(pid_t thread, Interrupts);

}  // namespace tfilefs
