// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/commands.h"

namespace tfilefs {

CommandLine::CommandLine(const std::string& does, const std::string& command)
    : app_(std::make_unique<CLI::App>(does, command)) {}

CommandLine::~CommandLine() = default;

void CommandLine::add_argument(const std::string& name, std::string& given, const std::string& help) {
  app_->add_option(name, given, help)->required();
}

void CommandLine::add_arguments(const std::string& name, std::vector<std::string>& given, const std::string& help,
                                int at_least) {
  constexpr int kArgumentsMax = 1 << 20;  // more than a command line can have
  app_->add_option(name, given, help)->required()->expected(at_least, kArgumentsMax)->type_name("");
}

void CommandLine::add_flag(const std::string& names, bool& given, const std::string& help) {
  app_->add_flag(names, given, help);
}

void CommandLine::add_number(const std::string& names, double& given, const std::string& help,
                             const std::function<std::string(const std::string&)>& check) {
  app_->add_option(names, given, help)->check(check);
}

void CommandLine::add_mount_options(std::vector<std::string>& given, const std::string& help) {
  app_->add_option("-o", given, help)->type_name("OPT,...")->take_all()->expected(1)->allow_extra_args(false);
}

void CommandLine::add_version(const std::string& version) { app_->set_version_flag("-V,--version", version); }

void CommandLine::set_footer(const std::string& text) { app_->footer(text); }

std::optional<int> CommandLine::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version: written to stdout
    return app_->exit(done);
  } catch (const CLI::ParseError& error) {
    app_->exit(error);
    return kExitUsage;
  }
  return std::nullopt;
}

int complain(const Error& error) {
  std::fprintf(stderr, "tfilefs: %s\n", message_of(error).c_str());
  return kExitFailure;
}

Result<> finish_output() {
  // A write larger than the stream's buffer bypasses it. If that failed, flushing reports nothing, and errno is lost.
  const bool failed_before = std::ferror(stdout) != 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && !failed_before) return {};
  const std::string reason = flushed ? "" : std::string(": ") + std::strerror(errno);
  return tfile::fail(ErrorKind::io, "cannot write the output" + reason);
}

}  // namespace tfilefs
