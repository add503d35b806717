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

// What a command takes, and the help that says so. What is given is written where each add_ names, which lasts as long
// as this. CLI11 does it, whose headers take long to compile: command_line.cpp alone includes them.
class CommandLine {
 public:
  CommandLine(const std::string& does, const std::string& command);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Which has to be given. They are taken in the order of these calls.
  void add_argument(const std::string& name, std::string& given, const std::string& help);
  void add_flag(const std::string& names, bool& given, const std::string& help);
  // `check`: what is wrong with the text that is given; empty: nothing.
  void add_number(const std::string& names, double& given, const std::string& help,
                  const std::function<std::string(const std::string&)>& check);
  // "-o OPT,...", each time that it is given.
  void add_mount_options(std::vector<std::string>& given, const std::string& help);
  void add_version(const std::string& version);
  // Below all else that the help says.
  void set_footer(const std::string& text);

  // An exit code where that is already the end (--help, --version, an error of usage).
  std::optional<int> parse(int argc, char** argv);

 private:
  const std::unique_ptr<CLI::App> app_;
};

// "tfilefs: MESSAGE" on stderr; returns kExitFailure.
int complain(const Error&);

// Writes out what was printed on stdout. Error: some of it, now or before, could not be written.
Result<> finish_output();

}  // namespace tfilefs
