// SPDX-License-Identifier: Apache-2.0
// manual_page TEMPLATE VERSION DATE: writes a page of the manual to standard output. Lines of the template that consist
// of @SYNOPSIS@, @COMMANDS@, @OPTIONS@, @MOUNT_OPTIONS@ or @PASSED_OVER@ are replaced by what the program's own
// description of its commands and options says.

#include <cctype>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "cli/description.h"

namespace {

using namespace tfilefs;

// Text as roff prints it: no letter of it is a request, and each hyphen is one that can be copied.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-') out += '\\';
    if (c == '\\') out += "\\e";
    if (c != '\\') out += c;
  }
  return (out.starts_with('.') || out.starts_with('\'')) ? "\\&" + out : out;
}

std::string sentence(std::string_view does) {
  std::string text = plain(does);
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + ".\n";
}

std::string flag_text(std::string_view names, std::string_view value) {
  std::string text;
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    text += (text.empty() ? "\\fB" : ", \\fB") + plain(names.substr(0, comma)) + "\\fR";
    names = comma == std::string_view::npos ? "" : names.substr(comma + 1);
  }
  return value.empty() ? text : text + " \\fI" + plain(value) + "\\fR";
}

std::string arguments_text(const Command& command) {
  std::string text;
  for (const Flag& flag : command.flags)
    text += " [" + flag_text(flag.names.substr(flag.names.rfind(',') + 1), flag.value) + "]";
  for (const Argument& argument : command.arguments) text += " \\fI" + plain(argument.name) + "\\fR";
  return text;
}

std::string synopsis() {
  std::string text = ".nf\n";
  for (const Command& command : all_commands()) {
    if (!command.is_for_people) continue;
    const std::string name = command.name.empty() ? "tfilefs" : "tfilefs " + plain(command.name);
    text += "\\fB" + name + "\\fR" + arguments_text(command) + "\n";
  }
  return text + ".fi\n";
}

std::string flags(const Command& command) {
  std::string text;
  for (const Flag& flag : command.flags)
    text += ".TP\n" + flag_text(flag.names, flag.value) + "\n" + sentence(flag.does);
  return text;
}

std::string examples(const Command& command) {
  std::string text;
  for (const std::string_view line : examples_of(command)) text += plain(line) + "\n";
  return text.empty() ? "" : ".IP\n.EX\n" + text + ".EE\n";
}

std::string commands() {
  std::string text;
  for (const Command& command : all_commands().subspan(1)) {
    if (!command.is_for_people) continue;
    text += ".TP\n\\fB" + plain(command.name) + "\\fR" + arguments_text(command) + "\n" + sentence(command.does);
    if (!command.manual.empty()) text += std::string(command.manual) + "\n";
    if (!command.flags.empty()) text += ".RS\n" + flags(command) + ".RE\n";
    text += examples(command);
  }
  return text;
}

std::string mount_option_text() {
  std::string text;
  for (const MountOption& option : mount_options()) {
    const std::string value = value_may_be_left_out(option) ? "[=\\fI" + plain(option.value.substr(1))
                              : option.value.empty()        ? ""
                                                            : "=\\fI" + plain(option.value);
    text += ".TP\n\\fB" + plain(option.name) + value + "\\fR\n" + sentence(option.does);
    if (!option.manual.empty()) text += std::string(option.manual) + "\n";
    if (!option.preset.empty()) text += "Default: " + plain(option.preset) + ".\n";
  }
  return text;
}

std::string passed_over() {
  std::string text;
  for (const std::string_view name : passed_over_options()) text += (text.empty() ? "" : ", ") + plain(name);
  return text + ",\nand every option that begins with x\\- or X\\-.\n";
}

std::string line_of_page(const std::string& line, const std::string& version, const std::string& date) {
  if (line == "@SYNOPSIS@") return synopsis();
  if (line == "@COMMANDS@") return commands();
  if (line == "@OPTIONS@") return flags(all_commands().front());
  if (line == "@MOUNT_OPTIONS@") return mount_option_text();
  if (line == "@PASSED_OVER@") return passed_over();
  std::string text = line;
  for (const auto& [name, value] : {std::pair{"@VERSION@", version}, {"@DATE@", date}}) {
    if (const std::size_t at = text.find(name); at != std::string::npos)
      text.replace(at, std::string_view(name).size(), value);
  }
  return text + "\n";
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream page(argc == 4 ? argv[1] : "");
  if (!page) {
    std::cerr << "usage: manual_page TEMPLATE VERSION DATE\n";
    return 2;
  }
  for (std::string line; std::getline(page, line);) std::cout << line_of_page(line, argv[2], argv[3]);
  return std::cout.flush() ? 0 : 1;
}
