// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/description.h"
#include "error_log.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tfilefs {

// The parser of a command, made of its description. take() names the variable for each flag and argument of the
// description; the variables must live as long as this. This wraps CLI11, whose headers take long to compile: only
// command_line.cpp includes them.
class CommandLine {
 public:
  // `command`: its name; empty: the one that mounts.
  explicit CommandLine(std::string_view command);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // `name`: of an argument, or the first name of a flag. A flag without a value is a bool; "-o", which
  // may be given several times, and arguments that stand for several are lists.
  void take(std::string_view name, bool& given);
  void take(std::string_view name, std::string& given);
  void take(std::string_view name, std::vector<std::string>& given);
  // A duration (cli/duration.h), in seconds: at least so many, at most those of a day.
  void take_seconds(std::string_view name, double& given, double least);
  // For "-V,--version". Called when the flags before it in the description have been taken.
  void tell_version(std::function<std::string()> version);

  // An exit code if the program is to end now (--help, --version, an error of usage).
  std::optional<int> parse(int argc, char** argv);

 private:
  // The mistake, without the parser's own words if it is one of the usual ones.
  std::string wrong_usage(const std::string& parser_text) const;
  CLI::Option* add(std::string_view name,
                   const std::function<CLI::Option*(const std::string& names, std::string does)>&);

  const Command& command_;
  const std::unique_ptr<CLI::App> app_;
  std::vector<std::string_view> taken_;
};

// "tfilefs: MESSAGE" on stderr; returns kExitFailure.
int complain(const Error&);

// Flushes stdout. Error: some of the output, now or since the last such error, could not be written.
Result<> finish_output();

}  // namespace tfilefs
