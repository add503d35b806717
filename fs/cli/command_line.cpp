// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <cstdio>

#include "cli/commands.h"
#include "printable.h"

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

std::string message_of(const Error& error) {
  std::string text = printable(error.text);
  if (error.offset >= 0) text += " (at byte " + std::to_string(error.offset) + ")";
  return text;
}

int complain(const Error& error) {
  std::fprintf(stderr, "tfilefs: %s\n", message_of(error).c_str());
  return kExitFailure;
}

}  // namespace tfilefs
