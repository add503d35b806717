// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tfilefs {

// How a program ended.
struct Ended {
  int status = -1;   // its exit status; -1: it was killed, or could not be started; 127: it could not be run
  std::string said;  // on standard error, lines joined by ;
};

// Waits until a child has ended: its status as waitpid(2) gives it; -1 if there is no such child.
int end_of_child(pid_t child);

// Runs a program and waits until it has ended. May be called while other threads run.
Ended run_program(const std::string& path, std::vector<std::string> arguments);

}  // namespace tfilefs
