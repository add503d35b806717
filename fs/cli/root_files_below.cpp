// SPDX-License-Identifier: Apache-2.0
#include "cli/root_files_below.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "tfile/local_file.h"
#include "vfs/names/natural_order.h"

namespace tfilefs {
namespace {

namespace filesystem = std::filesystem;

void add_files_below(const filesystem::path& directory, std::vector<std::string>& files, std::vector<Error>& missed) {
  std::error_code error;
  filesystem::directory_iterator at(directory, error);
  for (; !error && at != filesystem::directory_iterator(); at.increment(error)) {
    std::error_code gone;  // a name that goes meanwhile is none
    if (!at->is_symlink(gone) && at->is_directory(gone)) {
      add_files_below(at->path(), files, missed);
    } else if (at->is_regular_file(gone)) {
      std::string path = at->path().string();
      if (path.ends_with(".root") || begins_as_root_file(path)) files.push_back(std::move(path));
    }
  }
  if (error) missed.push_back(tfile::system_error(directory.string(), error.value()).value());
}

}  // namespace

// The version follows in four bytes, of which the first is 0: no text is taken for a ROOT file, as "root = true".
bool begins_as_root_file(const std::string& path) {
  constexpr std::string_view kBegin("root\0", 5);
  std::array<char, kBegin.size()> begin{};
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), begin.size()) && std::string_view(begin.data(), begin.size()) == kBegin;
}

std::vector<std::string> root_files_below(const std::string& directory, std::vector<Error>& missed) {
  std::vector<std::string> files;
  add_files_below(directory, files, missed);
  std::ranges::sort(files, is_before);
  return files;
}

}  // namespace tfilefs
