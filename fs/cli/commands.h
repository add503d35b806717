// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tfilefs {

// Exit codes of every command; docs and --help name them.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  // said on stderr in one line
inline constexpr int kExitUsage = 2;    // the command line has no meaning
// Those of check are fsck's, and are summed up.
inline constexpr int kCheckErrors = 4;
inline constexpr int kCheckIncomplete = 8;
inline constexpr int kCheckUsage = 16;

// Each takes main's arguments, the command's own name in argv[0], and gives the exit code.
int run_mount(int argc, char** argv);
int run_umount(int argc, char** argv);
int run_ls(int argc, char** argv);
int run_map(int argc, char** argv);
int run_check(int argc, char** argv);
int run_stats(int argc, char** argv);
int run_classes(int argc, char** argv);
int run_commit(int argc, char** argv);
int run_recover(int argc, char** argv);

// A subcommand, as --help names it.
struct Command {
  std::string_view name, arguments, does;
  int (*run)(int argc, char** argv);
  int unwritten = kExitFailure;  // in the exit code, where not all that it prints could be written
};
std::span<const Command> all_commands();

// What to say of a first argument that is neither a subcommand nor, as far as one can see, meant as a source: a word
// without '/' and '.' under which there is no file. Nothing where it may be a source.
std::optional<std::string> no_such_command(std::string_view argument);

}  // namespace tfilefs
