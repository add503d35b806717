// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/description.h"
#include "reply.h"

// The words that people type for --help and --version.
namespace tfilefs {

int run_help(int argc, char** argv) {
  CommandLine command("help");
  std::string name;
  command.take("[COMMAND]", name);
  if (const auto code = command.parse(argc, argv)) return *code;
  const Command* found = find_command(name);
  if (!found) {
    complain({ErrorKind::invalid, no_such_command(name).value_or("no such command: '" + name + "'"), -1, 0});
    return kExitUsage;
  }
  std::array words{std::string(found->name.empty() ? "tfilefs" : found->name), std::string("--help")};
  std::array<char*, 3> arguments{words[0].data(), words[1].data(), nullptr};
  return found->run(2, arguments.data());
}

int run_version(int argc, char** argv) {
  CommandLine command("version");
  bool is_long = false;
  command.take("-v", is_long);
  if (const auto code = command.parse(argc, argv)) return *code;
  std::array words{std::string("tfilefs"), std::string("--version"), std::string("-v")};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), is_long ? words[2].data() : nullptr, nullptr};
  return run_mount(is_long ? 3 : 2, arguments.data());
}

}  // namespace tfilefs
