// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/complete.h"

namespace tfilefs {

int run_completion(int argc, char** argv) {
  CommandLine command("completion");
  std::string shell;
  command.take("SHELL", shell);
  if (const auto code = command.parse(argc, argv)) return *code;
  const std::string_view script = shell == "bash"   ? kBashCompletion
                                  : shell == "zsh"  ? kZshCompletion
                                  : shell == "fish" ? kFishCompletion
                                                    : "";
  if (script.empty()) {
    complain({ErrorKind::invalid, shell + ": unknown shell, expected bash, zsh or fish"});
    return kExitUsage;
  }
  std::fwrite(script.data(), 1, script.size(), stdout);
  return kExitOk;
}

}  // namespace tfilefs
