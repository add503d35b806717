// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/description.h"

namespace {

// Whether this asks for a mount that may make its source: then any word can be the name of the source.
bool has_options(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view each) { return each.starts_with("-o"); });
}

// The one place that reports lost output. An exit code that reports something else stays.
int finished(int code, int unwritten) {
  const auto written = tfilefs::finish_output();
  if (written) return code;
  tfilefs::complain(written.error());
  return code | unwritten;
}

int dispatch(int argc, char** argv) {
  if (argc > 1) {
    if (const tfilefs::Command* command = tfilefs::find_command(argv[1]); command && !command->name.empty())
      return finished(command->run(argc - 1, argv + 1), command->unwritten);
    if (const auto reply = tfilefs::no_such_command(argv[1]); reply && !has_options(argc, argv)) {
      tfilefs::complain({tfile::ErrorKind::invalid, *reply, -1, 0});
      return tfilefs::kExitUsage;
    }
  }
  return finished(tfilefs::run_mount(argc, argv), tfilefs::kExitFailure);
}

// The parent process may have closed a standard descriptor. The next file opened would take its number, and be lost
// when the daemon closes these three. A descriptor that cannot be used takes its place, so that lost output is still
// reported.
void fill_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_descriptors();
  // Each arena of malloc keeps the memory that its threads freed. With one arena per thread, a cache of small chunks
  // took tens of megabytes more than its budget. Chunks are too large, and too few, for threads to contend for one
  // arena; but threads that open many files at once, as for a chain, would spend two thirds of their time so.
  mallopt(M_ARENA_MAX, 2);
  // A write beyond the limit of setrlimit(2) is to fail with EFBIG, not to end the daemon.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return dispatch(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tfilefs: %s\n", error.what());
    return tfilefs::kExitFailure;
  }
}
