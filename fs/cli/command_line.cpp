// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <stdio_ext.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/local_name.h"
#include "word_distance.h"

namespace tfilefs {

namespace {

// "Commit, unmount, and wait until the daemon is gone."
std::string sentence(std::string_view does) {
  std::string text(does);
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + ".";
}

std::string in_columns(std::string left, std::string_view right) {
  constexpr std::size_t kWidth = 26;
  const std::size_t wanted = std::max(kWidth, left.size() + 2);
  left.resize(wanted, ' ');
  return "  " + left + std::string(right) + "\n";
}

std::string with_value(const MountOption& option) {
  const std::string name(option.name);
  if (value_may_be_left_out(option)) return name + "[=" + std::string(option.value.substr(1));
  return name + (option.value.empty() ? "" : "=" + std::string(option.value));
}

// The part of the help of the whole program that no command has.
std::string lists() {
  std::string text = "Commands:\n";
  for (const Command& command : all_commands().subspan(1)) {
    if (command.is_for_people) text += in_columns("tfilefs " + std::string(command.name), command.does);
  }
  text += "  tfilefs COMMAND --help describes each of them.\n\nOptions for -o:\n";
  for (const MountOption& option : mount_options()) {
    const std::string preset = option.preset.empty() ? "" : " (" + std::string(option.preset) + ")";
    text += in_columns(with_value(option), std::string(option.does) + preset);
  }
  return text + "\n";
}

// Empty if there are none.
std::string examples_text(const Command& command) {
  std::string text;
  for (const std::string_view line : examples_of(command))
    text += (text.empty() ? "Examples:\n  " : "\n  ") + std::string(line);
  return text;
}

const Command& described(std::string_view name) {
  const Command* const command = find_command(name);
  if (!command) throw std::logic_error("no command " + std::string(name));
  return *command;
}

// Elsewhere a word that looks like a path is none: of an expression, a name, an option.
bool is_path(ValueHint hint) {
  switch (hint) {
    case ValueHint::file:
    case ValueHint::directory:
    case ValueHint::inside:
    case ValueHint::mount_point:
    case ValueHint::in_mount:
      return true;
    default:
      return false;
  }
}

CLI::Option* with_local_names(CLI::Option* option, ValueHint hint) {
  if (is_path(hint)) option->transform([](const std::string& word) { return local_name(word); });
  return option;
}

std::string_view first_name(const Flag& flag) { return flag.names.substr(0, flag.names.find(',')); }
std::string_view last_name(const Flag& flag) { return flag.names.substr(flag.names.rfind(',') + 1); }

// Makes a duration a number of seconds, as the parser takes it. What is wrong with it; empty: nothing.
std::string take_as_seconds(std::string& text, double least) {
  constexpr double kMost = 86400;
  if (const auto duration = parse_duration(text)) {
    const double seconds = std::chrono::duration<double>(*duration).count();
    if (seconds >= least && seconds <= kMost) {
      text = std::to_string(seconds);
      return "";
    }
  }
  std::array<char, 64> wanted;
  std::snprintf(wanted.data(), wanted.size(), ": not between %g and %g seconds", least, kMost);
  return text + wanted.data();
}

// "; did you mean --columns?" if one is so near.
std::string nearest_flag(const Command& command, std::string_view word) {
  NearestName nearest(word, word.size() / 3);
  for (const Flag& flag : command.flags) nearest.look_at(last_name(flag));
  return nearest.found().empty() ? "" : "; did you mean " + nearest.found() + "?";
}

// Arguments as the description writes them: the parser would say how many it takes, as "MNT(2x)", and "REQUIRED".
class HelpForm final : public CLI::Formatter {
 public:
  std::string make_option_usage(const CLI::Option* argument) const override {
    const std::string name = make_option_name(argument, true);
    return argument->get_required() ? name : "[" + name + "]";
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_positional() ? "" : CLI::Formatter::make_option_opts(option);
  }
};

}  // namespace

CommandLine::CommandLine(std::string_view command)
    : command_(described(command)),
      app_(std::make_unique<CLI::App>(sentence(command_.does),
                                      command.empty() ? "tfilefs" : "tfilefs " + std::string(command))) {
  std::string footer = (command.empty() ? lists() : "") + std::string(command_.remark);
  const std::string examples = examples_text(command_);
  if (!examples.empty()) footer += (footer.empty() ? "" : "\n\n") + examples;
  app_->footer(footer);
  app_->formatter(std::make_shared<HelpForm>());
}

CommandLine::~CommandLine() = default;

CLI::Option* CommandLine::add(std::string_view name,
                              const std::function<CLI::Option*(const std::string& names, std::string does)>& make) {
  taken_.push_back(name);
  for (const Flag& flag : command_.flags)
    if (first_name(flag) == name) {
      CLI::Option* const option = with_local_names(make(std::string(flag.names), std::string(flag.does)), flag.hint);
      return flag.value.empty() ? option : option->type_name(std::string(flag.value));
    }
  for (const Argument& argument : command_.arguments)
    if (argument.name == name) {
      // CLI11 has brackets of its own around what may be left out.
      const bool is_optional = name.starts_with('[');
      const std::string shown(is_optional ? name.substr(1, name.size() - 2) : name);
      return with_local_names(make(shown, std::string(argument.does)), argument.hint)
          ->required(!is_optional)
          ->type_name("");
    }
  throw std::logic_error("the description of the command has no " + std::string(name));
}

void CommandLine::take(std::string_view name, bool& given) {
  add(name, [&](const std::string& names, std::string does) { return app_->add_flag(names, given, does); });
}

void CommandLine::take(std::string_view name, std::string& given) {
  add(name, [&](const std::string& names, std::string does) { return app_->add_option(names, given, does); });
}

void CommandLine::take(std::string_view name, std::vector<std::string>& given) {
  constexpr int kArgumentsMax = 1 << 20;  // more than a command line can have
  add(name, [&](const std::string& names, std::string does) {
    CLI::Option* const option = app_->add_option(names, given, does);
    for (const Argument& argument : command_.arguments)
      if (argument.name == name) return option->expected(argument.at_least, kArgumentsMax);
    return option->take_all()->expected(1)->allow_extra_args(false);
  });
}

void CommandLine::take_seconds(std::string_view name, double& given, double least) {
  const CLI::Validator seconds([least](std::string& text) { return take_as_seconds(text, least); }, "");
  add(name, [&](const std::string& names, std::string does) {
    return app_->add_option(names, given, does)->transform(seconds);
  });
}

void CommandLine::tell_version(std::function<std::string()> version) {
  add("-V", [&](const std::string& names, std::string does) {
    return app_->set_version_flag(names, std::move(version), does);
  });
}

std::string CommandLine::wrong_usage(const std::string& parser_text) const {
  // An argument may be missing because what stands in its place is no flag.
  const std::vector<std::string> rest = app_->remaining();
  for (const std::string& word : rest)
    if (word.starts_with('-')) return "unknown option " + word + nearest_flag(command_, word);
  const std::string beyond = command_.beyond.empty() ? "" : "; " + std::string(command_.beyond);
  if (!rest.empty()) return "not expected: " + rest.front() + beyond;
  for (const Flag& flag : command_.flags)
    if (!flag.value.empty() && parser_text.find(" required ") != std::string::npos &&
        parser_text.starts_with(last_name(flag)))
      return "option " + std::string(last_name(flag)) + ": expected " + std::string(flag.value);
  for (const Argument& argument : command_.arguments)
    if (parser_text.starts_with(argument.name)) return std::string(argument.name) + " is required";
  return parser_text;
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
  // Nothing that the description promises is forgotten.
  if (taken_.size() != command_.flags.size() + command_.arguments.size())
    throw std::logic_error("tfilefs " + std::string(command_.name) + " does not take all that its description has");
  try {
    std::vector<std::string> words;  // in reverse, as the parser takes them
    for (int i = argc - 1; i > 0; --i) words.emplace_back(argv[i]);
    app_->parse(std::move(words));
  } catch (const CLI::Success& done) {  // --help, --version: written to stdout
    return app_->exit(done);
  } catch (const CLI::ParseError& error) {
    complain({ErrorKind::invalid, wrong_usage(error.what()) + "; see " + app_->get_name() + " --help"});
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
  // It is lost, and told of once.
  ::__fpurge(stdout);
  std::clearerr(stdout);
  return tfile::fail(ErrorKind::io, "cannot write the output" + reason);
}

}  // namespace tfilefs
