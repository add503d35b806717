// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "error_log.h"

namespace CLI {
class App;
}

namespace tfilefs {

// The options and arguments of a command, and its help. Values are written to the variable that each add_ names, which
// must live as long as this. This wraps CLI11, whose headers take long to compile: only command_line.cpp includes them.
class CommandLine {
 public:
  CommandLine(const std::string& does, const std::string& command);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Mandatory arguments. They are taken in the order of these calls.
  void add_argument(const std::string& name, std::string& given, const std::string& help);
  // All arguments from here on, of which there must be so many.
  void add_arguments(const std::string& name, std::vector<std::string>& given, const std::string& help, int at_least);
  void add_flag(const std::string& names, bool& given, const std::string& help);
  // `check` returns what is wrong with a text, empty if nothing is.
  void add_number(const std::string& names, double& given, const std::string& help,
                  const std::function<std::string(const std::string&)>& check);
  // "-o OPT,...", which may be given several times.
  void add_mount_options(std::vector<std::string>& given, const std::string& help);
  void add_version(const std::string& version);
  // At the end of the help.
  void set_footer(const std::string& text);

  // An exit code if the program is to end now (--help, --version, an error of usage).
  std::optional<int> parse(int argc, char** argv);

 private:
  const std::unique_ptr<CLI::App> app_;
};

// "tfilefs: MESSAGE" on stderr; returns kExitFailure.
int complain(const Error&);

// Flushes stdout. Error: some of the output, now or before, could not be written.
Result<> finish_output();

}  // namespace tfilefs
