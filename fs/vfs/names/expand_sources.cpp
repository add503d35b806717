// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/expand_sources.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "tfile/local_file.h"
#include "tfile/remote_listing.h"
#include "vfs/names/natural_order.h"

namespace tfilefs {
namespace {

// A directory that is there and cannot be read, other than the mount itself (EDEADLK). glob(3) passes no argument of
// ours to its function.
thread_local std::string unreadable_path;
thread_local int unreadable_errno = 0;

int stop_at_unreadable(const char* path, int number) {
  if (number == ENOENT || number == ENOTDIR || number == EDEADLK) return 0;
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
  return tfile::fail(ErrorKind::io, pattern + ": out of memory");
}

// Each of these is a request, one after the other.
constexpr std::size_t kListFilesMax = 10'000;
// Deeper than anyone nests directories. Links of a server may lead around in a circle.
constexpr std::size_t kListDepthMax = 64;

// The matches below a directory of a server. Each directory is listed once.
class RemoteMatches {
 public:
  RemoteMatches(const PathPattern& pattern, const tfile::RemoteOptions& options)
      : pattern_(pattern), options_(options) {}

  // `path`: of the directory, relative to the first one.
  Result<> add(const std::string& directory, const std::string& path, std::size_t depth = 0) {
    if (depth > kListDepthMax)
      return tfile::fail(ErrorKind::invalid,
                         "more than " + std::to_string(kListDepthMax) + " nested directories match");
    if (++lists_ > kListFilesMax)
      return tfile::fail(ErrorKind::invalid, "more than " + std::to_string(kListFilesMax) + " directories match");
    TRY(const tfile::RemoteListing listing, tfile::list_remote(directory, options_));
    if (listing.gap) return tl::unexpected<Error>(*listing.gap);
    for (const tfile::RemoteEntry& entry : listing.entries) {
      const std::string below = path.empty() ? entry.name : path + "/" + entry.name;
      const PathFit fit = pattern_.fit(below);
      const std::string url = tfile::url_below(directory, entry.name);
      if (fit.matches) found.push_back(url);
      if (fit.leads && entry.is_directory) TRY_VOID(add(tfile::url_below(url, ""), below, depth + 1));
    }
    return {};
  }

  std::vector<std::string> found;

 private:
  const PathPattern& pattern_;
  const tfile::RemoteOptions options_;
  std::size_t lists_ = 0;
};

// The pattern in a URL as it is for names of the server. What is percent-encoded stands for itself.
std::string pattern_as_named(const std::string& url, std::string_view pattern) {
  constexpr std::size_t kEncodedSize = 3;  // "%5B"
  std::string result;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view encoded = pattern.substr(i, kEncodedSize);
    const std::string named = tfile::path_as_named(url, encoded);
    const bool is_encoded = encoded.size() == kEncodedSize && named.size() == 1;
    result += is_encoded ? as_pattern(named) : std::string(1, pattern[i]);
    if (is_encoded) i += kEncodedSize - 1;
  }
  return result;
}

// As on this machine, a file may have the very name, "hist[1].root", which its own pattern does not match.
Result<std::vector<std::string>> remote_matches(const std::string& url, const tfile::RemoteOptions& options) {
  TRY(const RemotePattern pattern, remote_pattern(url));
  RemoteMatches matches(pattern.shown, options);
  TRY_VOID(matches.add(pattern.directory, ""));
  if (!matches.found.empty()) return std::move(matches.found);
  const std::string name = split_at_pattern(tfile::url_parts(url).path).pattern;
  TRY(const PathPattern itself, PathPattern::parse(as_pattern(tfile::path_as_named(url, name))));
  RemoteMatches same(itself, options);
  TRY_VOID(same.add(pattern.directory, ""));
  return same.found.empty() ? std::vector<std::string>{} : std::vector{url};
}

Result<std::vector<std::string>> local_matches(const std::string& name) {
  std::vector<std::string> found;
  TRY(const std::vector<std::string> patterns, without_braces(name));
  for (const std::string& pattern : patterns) TRY_VOID(add_local_matches(pattern, found));
  return found;
}

bool is_file_name(const std::string& name) {
  struct stat status {};
  return ::lstat(name.c_str(), &status) == 0;
}

}  // namespace

Result<std::vector<std::string>> expand_sources(const std::string& name, const tfile::RemoteOptions& options) {
  const bool is_remote = tfile::is_url(name);
  if (!has_pattern(is_remote ? tfile::url_parts(name).path : name) || (!is_remote && is_file_name(name)))
    return std::vector{name};
  TRY(auto found, is_remote ? remote_matches(name, options) : local_matches(name));
  if (found.empty()) return tfile::fail(ErrorKind::not_found, tfile::shown_name(name) + ": no file matches");
  std::ranges::sort(found, is_before);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Result<RemotePattern> remote_pattern(const std::string& url) {
  const tfile::UrlParts parts = tfile::url_parts(url);
  const PatternedPath path = split_at_pattern(parts.path);
  TRY(PathPattern shown, PathPattern::parse(pattern_as_named(url, path.pattern)));
  return RemotePattern{std::string(parts.server).append(unescaped(path.directory)).append(parts.query),
                       std::move(shown)};
}

}  // namespace tfilefs
