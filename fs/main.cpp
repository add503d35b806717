// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <string_view>

#include "cli/commands.h"

namespace {

struct Command {
  std::string_view name;
  int (*run)(int argc, char** argv);
};
constexpr Command kCommands[] = {
    {"umount", tfilefs::run_umount}, {"ls", tfilefs::run_ls}, {"map", tfilefs::run_map}, {"stats", tfilefs::run_stats}};

int dispatch(int argc, char** argv) {
  for (const Command& command : kCommands) {
    if (argc > 1 && command.name == argv[1]) return command.run(argc - 1, argv + 1);
  }
  return tfilefs::run_mount(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return dispatch(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tfilefs: %s\n", error.what());
    return tfilefs::kExitFailure;
  }
}
