// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/pending.h"
#include "staging/changes/abandoned_journal.h"
#include "staging/journal/file_place.h"
#include "staging/journal/journal.h"

namespace tfilefs {
namespace {

namespace filesystem = std::filesystem;

// Adds nothing either if a writer is at work.
void add_left(const std::string& file, std::vector<std::string>& lines) {
  const auto place = place_of(file);
  if (!place) return;
  if (const auto left = left_in_journal(*place); left && *left) lines.push_back(file + ": " + **left);
}

}  // namespace

std::vector<std::string> abandoned_journals(const std::string& source) {
  std::vector<std::string> lines;
  std::error_code error;
  if (!filesystem::is_directory(source, error)) {
    add_left(source, lines);
    return lines;
  }
  const std::string suffix = journal_name("");
  filesystem::recursive_directory_iterator at(source, filesystem::directory_options::skip_permission_denied, error);
  for (; at != filesystem::recursive_directory_iterator() && !error; at.increment(error)) {
    const std::string path = at->path();
    if (path.ends_with(suffix)) add_left(path.substr(0, path.size() - suffix.size()), lines);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace tfilefs
