// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfilefs {

// A daemon in the making: the process forks at once, and the parent waits until the child says how it went. All threads
// are to be started after that, by the child.
class Background {
 public:
  // In the parent this does not return: it ends with exit code 0 when the child is ready, after writing the greeting to
  // stderr (stdout is left to what asks for it), else with 1 after writing the child's message there.
  explicit Background(const std::string& greeting);

  // The child lets the parent go and cuts itself off from the terminal.
  void ready();
  // The child's last word, to be followed by its end: to the parent, and once that is gone to the system log.
  void fail(const std::string& message);

 private:
  int pipe_ = -1;
};

}  // namespace tfilefs
