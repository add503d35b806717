// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tfilefs {

// How a program ended.
struct Ended {
  int status = -1;   // its exit status; -1: it was killed, or could not be started; 127: it could not be run
  std::string said;  // on standard error, lines joined by ;
};

// Runs a program and waits until it has ended. May be called while other threads run.
Ended run_program(const std::string& path, std::vector<std::string> arguments);

}  // namespace tfilefs
