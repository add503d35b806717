// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "reply.h"

namespace tfilefs {

// Parses; an exit code where that is already the end (--help, --version, an error of usage).
std::optional<int> parse_arguments(CLI::App&, int argc, char** argv);

// "tfilefs: TEXT (at byte OFFSET)" on stderr, control characters escaped; returns kExitFailure.
int complain(const Error&);
std::string message_of(const Error&);

// Writes out what was printed on stdout. Error: some of it, now or before, could not be written.
Result<> finish_output();

}  // namespace tfilefs
