// SPDX-License-Identifier: Apache-2.0
#include "cli/complete.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/commands.h"
#include "cli/description.h"
#include "cli/mount_table.h"
#include "cli/options.h"
#include "cli/source_names.h"
#include "printable.h"

namespace tfilefs {
namespace {

namespace filesystem = std::filesystem;

constexpr Flag kHelp = {"-h,--help", "", ValueHint::nothing, "print the help and exit"};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

bool has_name(const Flag& flag, std::string_view name) {
  const auto names = split(flag.names, ',');
  return std::ranges::find(names, name) != names.end();
}

// Collects offers for a word of which the beginning is known.
class Collector {
 public:
  explicit Collector(std::string typed) : typed_(std::move(typed)) {}

  const std::string& typed() const { return typed_; }
  // A word that the shell's line could not hold is not offered.
  void offer(std::string word, std::string_view does = "") {
    if (word.starts_with(typed_) && printable(word) == word) found_.offers.push_back({std::move(word), does});
  }
  Completion& found() { return found_; }

 private:
  const std::string typed_;
  Completion found_;
};

void offer_commands(Collector& into) {
  for (const Command& command : all_commands().subspan(1))
    if (command.is_for_people) into.offer(std::string(command.name), command.does);
}

void offer_flags(const Command& command, Collector& into) {
  const auto add = [&](const Flag& flag) {
    for (const std::string_view name : split(flag.names, ',')) into.offer(std::string(name), flag.does);
  };
  for (const Flag& flag : command.flags) add(flag);
  add(kHelp);
}

// A path as the shell would pass it.
std::string without_tilde(const std::string& path) {
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home ? home + path.substr(1) : path;
}

// Directories of the host at the path that was typed, and with `files` its files. A ROOT file goes on like a directory.
void offer_paths(const std::string& before, const std::string& typed, bool files, Collector& into) {
  const std::size_t slash = typed.rfind('/');
  const std::string above = slash == std::string::npos ? "" : typed.substr(0, slash + 1);
  const std::string looked = above.empty() ? "." : without_tilde(above);
  const bool hidden = typed.substr(above.size()).starts_with('.');
  std::error_code error;
  for (filesystem::directory_iterator at(looked, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.starts_with('.') && !hidden) continue;
    const bool goes_on = at->is_directory(error) || (files && name.ends_with(".root"));
    if (goes_on || files) into.offer(before + above + name + (goes_on ? "/" : ""));
  }
}

// Names inside a ROOT file, or nothing if the word does not lead into one. Problems are not told: there is nobody who
// reads them.
bool offer_inside(Collector& into) {
  const std::size_t slash = into.typed().rfind('/');
  if (slash == std::string::npos || tfile::is_url(into.typed())) return false;
  const std::string above = into.typed().substr(0, slash + 1);
  const auto [source, inside] = split_source(without_tilde(above));
  std::error_code error;
  if (!filesystem::is_regular_file(source, error)) return false;
  const auto options = parse_mount_options({"prefetch=off"});
  const auto fs = FileSystem::open(source, options->file_system);
  const auto at = fs ? (*fs)->find_path(inside) : tl::unexpected(fs.error());
  const auto names = at ? names_in(**fs, at->id) : tl::unexpected(at.error());
  if (!names) return true;
  for (const auto& each : *names) into.offer(above + each.name + (each.is_directory ? "/" : ""));
  return true;
}

void offer_mount_options(Collector& into) {
  const std::size_t comma = into.typed().rfind(',');
  const std::string before = comma == std::string::npos ? "" : into.typed().substr(0, comma + 1);
  const std::string last = into.typed().substr(before.size());
  const std::size_t equals = last.find('=');
  for (const MountOption& option : mount_options()) {
    const std::string name = std::string(option.name) + (option.value.empty() ? "" : "=");
    if (equals == std::string::npos) {
      into.offer(before + (value_may_be_left_out(option) ? std::string(option.name) : name), option.does);
    } else if (last.starts_with(name)) {
      for (const std::string_view choice : option.choices) into.offer(before + name + std::string(choice));
      if (option.hint == ValueHint::file || option.hint == ValueHint::directory)
        offer_paths(before + name, last.substr(name.size()), option.hint == ValueHint::file, into);
    }
  }
}

void offer_mount_points(bool goes_on, Collector& into) {
  for (const MountLine& line : mounts_of("self"))
    if (line.type == "fuse.tfilefs") into.offer(line.point + (goes_on ? "/" : ""), "");
}

void offer_values(ValueHint hint, Collector& into) {
  switch (hint) {
    case ValueHint::nothing:
    case ValueHint::text:
      return;
    case ValueHint::file:
      into.found().files = true;
      return;
    case ValueHint::directory:
      into.found().directories = true;
      return;
    case ValueHint::inside:
      if (!offer_inside(into)) offer_paths("", into.typed(), true, into);
      return;
    case ValueHint::mount_point:
      return offer_mount_points(false, into);
    case ValueHint::in_mount:
      into.found().files = true;
      return offer_mount_points(true, into);
    case ValueHint::mount_options:
      return offer_mount_options(into);
    case ValueHint::command:
      return offer_commands(into);
    case ValueHint::shell:
      for (const char* shell : {"bash", "zsh", "fish"}) into.offer(shell);
      return;
  }
}

const Flag* flag_with_value(const Command& command, std::string_view name) {
  const auto found = std::ranges::find_if(
      command.flags, [&](const Flag& flag) { return !flag.value.empty() && has_name(flag, name); });
  return found == command.flags.end() ? nullptr : &*found;
}

// `words`: those behind the command's name.
void complete_command(const Command& command, std::span<const std::string> words, Collector& into) {
  std::size_t arguments = 0;
  const Flag* awaited = nullptr;
  for (const std::string& word : words.first(words.size() - 1)) {
    if (std::exchange(awaited, nullptr)) continue;
    awaited = flag_with_value(command, word);
    if (!word.starts_with('-')) ++arguments;
  }
  if (awaited) return offer_values(awaited->hint, into);
  if (into.typed().starts_with('-')) return offer_flags(command, into);
  if (command.arguments.empty()) return;
  const std::size_t place = std::min(arguments, command.arguments.size() - 1);
  if (place == arguments || command.arguments[place].at_least > 0) offer_values(command.arguments[place].hint, into);
}

}  // namespace

Completion completion_of(std::span<const std::string> words) {
  if (words.empty()) return {};
  Collector into(words.back());
  const Command* const command = words.size() > 1 ? find_command(words.front()) : nullptr;
  if (command && !command->name.empty()) {
    complete_command(*command, words.subspan(1), into);
  } else {
    if (words.size() == 1) offer_commands(into);
    complete_command(*find_command(""), words, into);
  }
  return std::move(into.found());
}

int run_complete(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const Completion found = completion_of(words);
  for (const auto& [word, does] : found.offers)
    std::printf("%s%s%s\n", word.c_str(), does.empty() ? "" : "\t", std::string(does).c_str());
  if (found.files) std::printf(":files\n");
  if (found.directories) std::printf(":directories\n");
  return kExitOk;
}

}  // namespace tfilefs
