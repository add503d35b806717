// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The one description of commands and options. The parser, --help, the pages of the manual (packaging/manual_page.cpp)
// and completion (cli/complete.cpp) are made from it.
namespace tfilefs {

// The kind of a word of the command line, for completion.
enum class ValueHint : std::uint8_t {
  nothing,
  text,           // which nobody can guess
  file,           // of the host
  directory,      // of the host
  inside,         // a file or directory of the host, or a path inside a ROOT file
  mount_point,    // of tfilefs
  in_mount,       // a path below such a mount point
  mount_options,  // OPT,...
  command,        // of tfilefs
  shell,          // bash, zsh or fish
};

struct Flag {
  std::string_view names;  // "-b,--branches"
  std::string_view value;  // as the help calls it: "SECONDS"; empty if there is none
  ValueHint hint;          // of the value
  std::string_view does;
};

struct Argument {
  std::string_view name;  // "SOURCE"; "[CUT]" if it may be left out
  ValueHint hint;
  std::string_view does;
  int at_least = 0;  // for an argument that stands for several: how many; 0: it is a single one
};

// `manual` is text of the manual page, in the language of man(7).
struct Command {
  std::string_view name;  // empty: the command that mounts
  std::string_view does;  // in one line, without a full stop
  std::string_view manual;
  std::span<const Flag> flags;
  std::span<const Argument> arguments;
  int (*run)(int argc, char** argv);
  int unwritten = 1;             // added to the exit code if not all of its output could be written
  std::string_view remark = {};  // at the end of its help
  bool is_for_people = true;     // else no list shows it
  std::string_view beyond = {};  // what is said of words beyond the arguments
};

// Mounting first, then the others in the order in which they are listed.
std::span<const Command> all_commands();
const Command* find_command(std::string_view name);

struct ParsedOptions;  // cli/options.cpp

// An option of -o.
struct MountOption {
  std::string_view name;  // "memory"
  std::string_view
      value;       // what follows "=", as the help calls it: "SIZE"; "[HOW]" if it may be left out; empty: nothing
  ValueHint hint;  // of the value
  std::span<const std::string_view> choices;  // its values, if these are all
  std::string_view does;                      // in one line, without a full stop
  std::string_view preset;                    // what holds if it is not given; empty: nothing
  std::string_view manual;                    // what `does` does not say
  bool (*take)(const MountOption&, std::string_view value, ParsedOptions&);  // false: the value is not allowed
  std::string_view wanted = {};                                              // what is: "a size such as 512M"
};

std::span<const MountOption> mount_options();

// Whether an option may stand without "=" and its value: "[HOW]", and not "[TABLE:]EXPR".
inline bool value_may_be_left_out(const MountOption& option) {
  return option.value.starts_with('[') && option.value.ends_with(']');
}

// Options of mount(8), fstab, systemd or autofs that are allowed and do nothing: the program that passes them does
// them, or they hold in any case.
std::span<const std::string_view> passed_over_options();

// "[--lazy] MNT"
std::string usage_of(const Command&);

// Lines as they are typed (cli/examples.cpp).
std::vector<std::string_view> examples_of(const Command&);

}  // namespace tfilefs
