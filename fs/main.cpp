// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>

#include "cli/commands.h"

namespace {

struct Command {
  std::string_view name;
  int (*run)(int argc, char** argv);
};
constexpr Command kCommands[] = {{"umount", tfilefs::run_umount}, {"ls", tfilefs::run_ls},
                                 {"map", tfilefs::run_map},       {"check", tfilefs::run_check},
                                 {"stats", tfilefs::run_stats},   {"classes", tfilefs::run_classes},
                                 {"commit", tfilefs::run_commit}, {"recover", tfilefs::run_recover}};

int dispatch(int argc, char** argv) {
  for (const Command& command : kCommands) {
    if (argc > 1 && command.name == argv[1]) return command.run(argc - 1, argv + 1);
  }
  return tfilefs::run_mount(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  // Each arena of malloc keeps what its threads freed: with one for each thread a cache of small chunks took tens of
  // megabytes more than its budget. Chunks are too large, and too few, for threads to meet at one.
  mallopt(M_ARENA_MAX, 1);
  // A file beyond the limit of setrlimit(2) is an error of write(2), EFBIG, not the end of a daemon.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return dispatch(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tfilefs: %s\n", error.what());
    return tfilefs::kExitFailure;
  }
}
