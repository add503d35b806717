// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/commands.h"

namespace tfilefs {

std::optional<int> parse_arguments(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version: written to stdout
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return kExitUsage;
  }
  return std::nullopt;
}

int complain(const Error& error) {
  std::fprintf(stderr, "tfilefs: %s\n", message_of(error).c_str());
  return kExitFailure;
}

Result<> finish_output() {
  // What is larger than the stream's buffer goes past it: flushing that tells nothing, and why is no longer known.
  const bool failed_before = std::ferror(stdout) != 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && !failed_before) return {};
  const std::string reason = flushed ? "" : std::string(": ") + std::strerror(errno);
  return tfile::fail(ErrorKind::io, "cannot write the output" + reason);
}

}  // namespace tfilefs
