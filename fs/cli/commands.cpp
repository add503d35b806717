// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace tfilefs {
namespace {

constexpr Command kCommands[] = {
    {"umount", "[--lazy] MNT", "commit, unmount, and wait until the daemon is gone", run_umount},
    {"commit", "MNT/PATH", "commit what is whole below a directory, now", run_commit},
    {"recover", "FILE", "finish what a crashed mount left beside a file", run_recover},
    {"ls", "[-l|-R|--json] SOURCE[/PATH]", "what the mount would show, without mounting", run_ls},
    {"map", "SOURCE", "every record of a ROOT file", run_map},
    {"check", "SOURCE", "whether all of a ROOT file is as it must be", run_check, kCheckIncomplete},
    {"stats", "[-b] [-w SECONDS] MNT", "what a mount has read, decoded and kept", run_stats},
    {"classes", "SOURCE DIR", "a C++ header for each class of a ROOT file", run_classes},
};

// The number of letters to change, add or leave out to turn one word into the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({row[j], row[j + 1], diagonal}) + 1);
      row[j + 1] = std::min(row[j + 1], changed);
    }
  }
  return row.back();
}

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

std::optional<std::string> no_such_command(std::string_view argument) {
  constexpr std::size_t kWordMax = 32;
  const bool is_word = !argument.empty() && argument.size() <= kWordMax && argument[0] != '-' &&
                       argument.find_first_of("/.:") == std::string_view::npos;
  const std::string word(argument);
  if (!is_word || ::access(word.c_str(), F_OK) == 0) return std::nullopt;
  std::string told = "there is no command and no file '" + word + "': ";
  if (word == "mount") return told + "tfilefs SOURCE MNT mounts";
  const Command* nearest = std::min_element(
      std::begin(kCommands), std::end(kCommands),
      [&](const Command& a, const Command& b) { return distance(word, a.name) < distance(word, b.name); });
  if (distance(word, nearest->name) <= nearest->name.size() / 2)
    return told + "did you mean tfilefs " + std::string(nearest->name) + " " + std::string(nearest->arguments) + "?";
  return told + "tfilefs --help names all commands";
}

}  // namespace tfilefs
