// SPDX-License-Identifier: Apache-2.0
#include "cli/each_source.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/root_files_below.h"
#include "cli/source_names.h"
#include "printable.h"
#include "vfs/names/expand_sources.h"

namespace tfilefs {
namespace {

bool is_local_directory(const std::string& name) {
  struct stat status {};
  return !tfile::is_url(name) && ::stat(name.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Adds the ROOT files below a directory; false after an error, which was reported.
bool take_files_below(const std::string& directory, std::vector<std::string>& into) {
  std::vector<Error> missed;
  const std::vector<std::string> found = root_files_below(directory, missed);
  if (found.empty() && missed.empty())
    missed.push_back(Error{ErrorKind::not_found, directory + ": no ROOT file in it or below"});
  std::ranges::for_each(missed, complain);
  into.insert(into.end(), found.begin(), found.end());
  return missed.empty();
}

// For who names a table where a file is wanted. Empty: it is not so.
std::string inside_a_file(const std::string& name, std::string_view command) {
  struct stat status {};
  if (command.empty() || tfile::is_url(name) || ::stat(name.c_str(), &status) == 0) return "";
  const SourcePath split = split_source(name);
  if (split.inside.empty() || ::stat(split.source.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  return name + ": " + std::string(command) + " takes whole files; did you mean tfilefs " + std::string(command) + " " +
         split.source + ", or tfilefs ls " + split.source + "/" + split.inside + "?";
}

}  // namespace

int for_each_source(const SourceWords& sources, const tfile::RemoteOptions& options, int failure,
                    const std::function<int(const OneSource&)>& run) {
  int code = kExitOk;
  std::vector<std::string> all;
  bool is_directory = false;
  for (const std::string& word : sources.words) {
    if (const std::string meant = inside_a_file(word, sources.command); !meant.empty()) {
      complain({ErrorKind::invalid, meant});
      code |= failure;
      continue;
    }
    const auto names = expand_sources(word, options);
    if (!names) {
      complain(names.error());
      code |= failure;
      continue;
    }
    for (const std::string& name : *names) {
      if (!sources.enters || !is_local_directory(name)) {
        all.push_back(name);
        continue;
      }
      is_directory = true;
      if (!take_files_below(name, all)) code |= failure;
    }
  }
  const bool are_several = sources.are_of_several || sources.words.size() > 1 || is_directory || all.size() > 1;
  for (const std::string& name : all) code |= run({name, tfile::shown_name(name), are_several});
  return code;
}

void print_title(const OneSource& source) {
  static bool is_first = true;
  if (!source.is_of_several) return;
  std::printf("%s%s:\n", is_first ? "" : "\n", printable(source.shown).c_str());
  is_first = false;
}

}  // namespace tfilefs
