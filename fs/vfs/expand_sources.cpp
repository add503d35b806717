// SPDX-License-Identifier: Apache-2.0
#include "vfs/expand_sources.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "tfile/local_file.h"
#include "tfile/source.h"
#include "vfs/path_pattern.h"

namespace tfilefs {
namespace {

// A directory that is there and cannot be read. glob(3) passes no argument of ours to its function.
thread_local std::string unreadable_path;
thread_local int unreadable_errno = 0;

int stop_at_unreadable(const char* path, int number) {
  if (number == ENOENT || number == ENOTDIR) return 0;
  unreadable_path = path;
  unreadable_errno = number;
  return 1;
}

Result<> add_local_matches(const std::string& pattern, std::vector<std::string>& into) {
  ::glob_t found{};
  const int result = ::glob(pattern.c_str(), 0, stop_at_unreadable, &found);
  if (result == 0) into.insert(into.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (result == 0 || result == GLOB_NOMATCH) return {};
  if (result == GLOB_ABORTED) return tfile::system_error(unreadable_path, unreadable_errno);
  return tfile::fail(ErrorKind::io, pattern + ": out of memory", -1, ENOMEM);
}

}  // namespace

Result<std::vector<std::string>> expand_sources(const std::string& name) {
  struct stat status {};
  if (tfile::is_url(name) || !has_pattern(name) || ::lstat(name.c_str(), &status) == 0) return std::vector{name};
  std::vector<std::string> found;
  TRY(const std::vector<std::string> patterns, without_braces(name));
  for (const std::string& pattern : patterns) TRY_VOID(add_local_matches(pattern, found));
  if (found.empty()) return tfile::fail(ErrorKind::not_found, name + ": no file matches", -1, ENOENT);
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

}  // namespace tfilefs
