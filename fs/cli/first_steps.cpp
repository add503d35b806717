// SPDX-License-Identifier: Apache-2.0
#include "cli/first_steps.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "cli/source_names.h"
#include "cli/tree_listing.h"
#include "printable.h"
#include "vfs/held.h"
#include "waited.h"

namespace tfilefs {
namespace {

// As a shell takes it.
std::string shell_word(const std::string& path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,:@%";
  const std::string shown = printable(path);
  if (shown.find_first_not_of(kPlain) == std::string::npos) return shown;
  std::string quoted = "'";
  for (const char c : shown) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

bool is_in(FileSystem& fs, InodeId above, const std::string& name) {
  const auto found = waited<FileSystem::Found>(
      [&](auto reply) { fs.lookup(above, name, std::move(reply), nullptr, FileSystem::Sizes::soon); });
  const HeldInode inode = found ? HeldInode(fs, *found) : HeldInode();
  return found.has_value();
}

// The name of the first table in a directory; nothing if there is none among the first names.
std::optional<std::string> first_table(FileSystem& fs, InodeId directory) {
  constexpr std::size_t kLookedAt = 100;
  const auto names = names_in(fs, directory);
  for (std::size_t i = 0; names && i < std::min(names->size(), kLookedAt); ++i) {
    const std::string& name = (*names)[i].name;
    if (!(*names)[i].is_directory) continue;
    const auto found = waited<FileSystem::Found>([&](auto reply) { fs.lookup(directory, name, std::move(reply)); });
    if (!found) continue;
    const HeldInode inode(fs, *found);
    if (!thing_at(fs, name, *found).xattr("entries").empty()) return name;
  }
  return std::nullopt;
}

}  // namespace

std::string first_steps(FileSystem& fs, const std::string& mount_point) {
  const auto root = fs.find_path("");
  if (!root) return "";
  const std::string above = mount_point.ends_with('/') ? mount_point : mount_point + "/";
  const auto table = first_table(fs, root->id);
  if (!table) return "tfilefs: try ls " + shell_word(mount_point) + "\n";
  const std::string text = is_in(fs, root->id, *table + ".csv") ? ".csv" : ".jsonl";
  return "tfilefs: try head " + shell_word(above + *table + text) + ", or xdg-open " +
         shell_word(above + *table + "/index.html") + "\n";
}

}  // namespace tfilefs
