// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "error_log.h"

namespace tfilefs {

// Parses; an exit code where that is already the end (--help, --version, an error of usage).
std::optional<int> parse_arguments(CLI::App&, int argc, char** argv);

// "tfilefs: MESSAGE" on stderr; returns kExitFailure.
int complain(const Error&);

// Writes out what was printed on stdout. Error: some of it, now or before, could not be written.
Result<> finish_output();

}  // namespace tfilefs
