// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfilefs {

// Turns the process into a daemon: it forks at once, and the parent waits until the child reports success or failure.
// The child must start all threads after that.
class Background {
 public:
  // In the parent this does not return. When the child is ready, the parent writes the greeting to stderr (stdout is
  // kept free), with what the child adds, and ends with exit code 0. If the child fails, it writes the child's message
  // there and ends with 1.
  explicit Background(const std::string& greeting);

  // Called by the child, which is in the process group of who started it until then: lets the parent end, and detaches
  // the child from the terminal. `more`: what the parent writes behind the greeting, a line.
  void ready(const std::string& more);
  // Called by the child before it ends: sends the message to the parent, unless that is gone.
  void fail(const std::string& message);

 private:
  int pipe_ = -1;
};

}  // namespace tfilefs
