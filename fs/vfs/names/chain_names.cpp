// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/chain_names.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "mount_lines.h"
#include "tfile/errnos.h"
#include "tfile/local_file.h"
#include "tfile/remote_listing.h"
#include "vfs/names/expand_sources.h"
#include "vfs/names/natural_order.h"
#include "vfs/names/path_pattern.h"

namespace tfilefs {
namespace {

constexpr std::string_view kSuffix = ".root";

// Lists may name lists, but not without end; and not so many that they multiply: a list for each run of some years is
// a few thousand.
constexpr int kListsMax = 8;
constexpr int kListsInAll = 10'000;

// The place of the colon in front of a table's name; npos if there is none.
std::size_t table_colon(std::string_view name, std::size_t path_begin) {
  const std::size_t suffix = name.find(std::string(kSuffix) + ":", path_begin);
  const bool has_suffix = suffix != std::string_view::npos && suffix + kSuffix.size() + 1 < name.size();
  if (has_suffix) return suffix + kSuffix.size();
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || colon < path_begin || colon + 1 == name.size()) return std::string_view::npos;
  return name.find(kSuffix, colon) == std::string_view::npos ? colon : std::string_view::npos;
}

// The begin of the path: behind the server of a URL.
std::size_t path_begin(std::string_view name) {
  if (!tfile::is_url(name)) return 0;
  const std::size_t server = name.find("://") + 3;
  return std::min(name.find('/', server), name.size());
}

bool is_directory(const std::string& name) {
  struct stat status {};
  return ::stat(name.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_own_mount(const std::string& name) {
  struct stat status {};
  return ::stat(name.c_str(), &status) != 0 && errno == tfile::errnos::kOwnMount;
}

// A table behind the longest name in front of a separator that is one of a file.
std::optional<ChainName> behind_a_file(const std::string& name) {
  for (std::size_t i = name.size(); i-- > 1;) {
    const std::size_t separator = name[i] == ':' || name[i] == '/' ? 1 : name.compare(i, 2, "?#") == 0 ? 2 : 0;
    if (separator == 0 || i + separator == name.size()) continue;
    const std::string file = name.substr(0, i);
    if (is_there(file) && !is_directory(file)) return ChainName{file, name.substr(i + separator)};
  }
  return std::nullopt;
}

Result<std::vector<std::string>> root_files_in(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  std::vector<std::string> files;
  if (!open && errno == tfile::errnos::kOwnMount) return files;
  if (!open) return tfile::system_error(directory, errno);
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(kSuffix) && name.size() > kSuffix.size() && !name.starts_with('.'))
      files.push_back(directory + (directory.ends_with('/') ? "" : "/") + std::string(name));
  }
  std::ranges::sort(files, is_before);
  return files;
}

// The mounts of tfilefs below a directory, as the directory is named here.
std::set<std::string> mounts_below(const std::string& top) {
  std::error_code ignored;  // of a directory that is gone
  const std::string real = std::filesystem::canonical(top, ignored).string(), below = real == "/" ? real : real + "/";
  std::set<std::string> found;
  for (const MountLine& line : mounts_of("self")) {
    const bool is_below = line.type == "fuse.tfilefs" && !real.empty() && line.point.starts_with(below);
    if (is_below) found.insert((std::filesystem::path(top) / line.point.substr(below.size())).string());
  }
  return found;
}

// The directories below one, itself among them; links are not followed, so that no file is found twice. Where tfilefs
// is mounted, there are no ROOT files; and two chains that look for files below the other's mount would wait for each
// other.
Result<std::vector<std::string>> directories_below(const std::string& top) {
  std::vector<std::string> found{top};
  const std::set<std::string> mounts = mounts_below(top);
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk at(top, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;  // of a name that is gone, or a link that leads nowhere
    const bool is_mount = mounts.contains(at->path().string());
    if (is_mount) at.disable_recursion_pending();
    if (!is_mount && !at->is_symlink(ignored) && at->is_directory(ignored)) found.push_back(at->path().string() + "/");
  }
  if (error == std::errc::not_a_directory) return tfile::fail(ErrorKind::not_found, top + ": not a directory");
  if (error) return tfile::system_error(top, error.value());
  return found;
}

Result<std::vector<std::string>> expand_local(const std::string& name);

Result<std::vector<std::string>> directories_named(const std::string& pattern) {
  if (has_pattern(pattern)) return expand_sources(pattern);
  return std::vector{is_there(pattern) ? pattern : unescaped(pattern)};
}

// The matches behind "**/" in a directory; without a pattern, its ROOT files. Error: not_found as well.
Result<std::vector<std::string>> matches_in(const std::string& directory, const std::string& pattern) {
  if (pattern.empty()) return root_files_in(directory);
  if (has_pattern(pattern)) return expand_local(as_pattern(directory) + pattern);
  const std::string file = directory + unescaped(pattern);
  return is_there(file) ? std::vector{file} : std::vector<std::string>();
}

// A pattern with "**/": of each directory below the one before it, what matches the rest.
Result<std::vector<std::string>> expand_deep(const std::string& pattern, std::size_t stars) {
  const std::string top = pattern.substr(0, stars);
  std::string rest = pattern.substr(stars + 2);
  rest.erase(0, rest.find_first_not_of('/'));
  while (rest.starts_with("**/") || rest == "**") rest.erase(0, rest == "**" ? 2 : 3);
  TRY(const std::vector<std::string> tops, directories_named(top.empty() ? "./" : top));
  std::vector<std::string> found;
  for (const std::string& each : tops) {
    TRY(const std::vector<std::string> directories, directories_below(each));
    for (const std::string& directory : directories) {
      auto matched = matches_in(directory, rest);
      if (!matched && matched.error().kind == ErrorKind::not_found) continue;
      if (!matched) return matched;
      found.insert(found.end(), matched->begin(), matched->end());
    }
  }
  std::ranges::sort(found, is_before);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.empty()) return no_such_entry(pattern + ": no file matches");
  return found;
}

Result<std::vector<std::string>> remote_files_in(const std::string& directory, const tfile::RemoteOptions& remote) {
  TRY(const tfile::RemoteListing listing, tfile::list_remote(directory, remote));
  if (listing.gap) return tl::unexpected(*listing.gap);
  std::vector<std::string> files;
  for (const tfile::RemoteEntry& entry : listing.entries) {
    if (!entry.is_directory && entry.name.ends_with(kSuffix)) files.push_back(tfile::url_below(directory, entry.name));
  }
  std::ranges::sort(files, is_before);
  return files;
}

// For a URL that ends in "**", the pattern of the ROOT files there.
std::string with_root_files(const std::string& url) {
  const tfile::UrlParts parts = tfile::url_parts(url);
  std::string_view path = parts.path;
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.ends_with("/**")) return url;
  return std::string(parts.server).append(path).append("/*").append(kSuffix).append(parts.query);
}

Result<std::vector<std::string>> expand_files(const std::string& name, const tfile::RemoteOptions& remote) {
  if (tfile::is_url(name)) return expand_sources(with_root_files(name), remote);
  return is_there(name) ? std::vector{name} : expand_local(name);
}

Result<std::vector<std::string>> expand_local(const std::string& name) {
  const std::size_t stars = name.find("**");
  if (stars != std::string::npos && (stars == 0 || name[stars - 1] == '/')) return expand_deep(name, stars);
  TRY(std::vector<std::string> found, expand_sources(name));
  if (has_pattern(name)) std::erase_if(found, is_own_mount);
  return found;
}

// A list may come from a pipe, as of <(ls). A device could be read for ever; and more than a million names are none.
Result<> check_list(const std::string& path) {
  constexpr off_t kListMax = 256 << 20;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return tfile::system_error(path, errno);
  if (S_ISFIFO(status.st_mode) || (S_ISREG(status.st_mode) && status.st_size <= kListMax)) return {};
  return tfile::fail(ErrorKind::invalid, path + ": not a list: expected a pipe or a file of at most 256 MiB");
}

class NameReader {
 public:
  explicit NameReader(const tfile::RemoteOptions& remote) : remote_(remote) {}

  Result<> add(const std::string& name, int depth) {
    if (name.starts_with('@')) return add_list(name.substr(1), depth);
    if (is_there(name)) return add_file({name, ""});
    ChainName parsed = parse_chain_name(name);
    // A name with a pattern may have a colon as well. At a server, which takes requests, none is looked for behind
    // .root.
    const bool may_have_colon = parsed.table.empty() || !tfile::is_url(name) || !parsed.file.ends_with(kSuffix);
    auto files = may_have_colon ? expand_files(name, remote_) : std::vector<std::string>();
    if (files && !files->empty() && !parsed.table.empty() && files->front() != name) parsed = {name, ""};
    if (!files || !parsed.table.empty()) files = expand_files(parsed.file, remote_);
    if (!files) return tl::unexpected(std::move(files).error());
    for (const std::string& file : *files) TRY_VOID(add_file({file, parsed.table}));
    return {};
  }

  Result<> add(const ChainName& name) {
    TRY(const std::vector<std::string> files, expand_files(name.file, remote_));
    for (const std::string& file : files) {
      ChainName one = name;
      one.file = file;
      TRY_VOID(add_file(one));
    }
    return {};
  }

  std::vector<ChainName> all;

 private:
  Result<> add_file(ChainName name) {
    name.table.erase(0, std::min(name.table.find_first_not_of('/'), name.table.size()));  // as uproot writes it
    const bool is_remote = tfile::is_url(name.file);
    if (is_remote ? !tfile::url_parts(name.file).path.ends_with('/') : !is_directory(name.file)) {
      all.push_back(std::move(name));
      return {};
    }
    TRY(const std::vector<std::string> files,
        is_remote ? remote_files_in(name.file, remote_) : root_files_in(name.file));
    for (const std::string& file : files) all.push_back({file, name.table});
    return {};
  }

  // Names in a list are relative to it.
  Result<> add_list(const std::string& path, int depth) {
    if (depth >= kListsMax)
      return tfile::fail(ErrorKind::invalid, path + ": lists are nested too deeply, or include each other");
    if (++lists_ > kListsInAll) return tfile::fail(ErrorKind::invalid, path + ": more than 10,000 lists");
    std::ifstream list(path);
    if (!list) return tfile::system_error(path, errno);
    TRY_VOID(check_list(path));
    const std::string directory = path.substr(0, path.rfind('/') + 1);
    std::string line;
    for (std::size_t number = 1; std::getline(list, line); ++number) {
      if (line.find('\0') != std::string::npos)
        return tfile::fail(ErrorKind::invalid, path + ": line " + std::to_string(number) + " is not text");
      const std::size_t begin = line.find_first_not_of(" \t\r");
      if (begin == std::string::npos || line[begin] == '#') continue;
      line = line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
      TRY_VOID(add(named_in_list(directory, line), depth + 1));
    }
    return {};
  }

  // The longest part of a line in which a file is named; without one, all in front of a comment.
  static std::string named_in_list(const std::string& directory, std::string line) {
    const auto from_list = [&](const std::string& name) {
      return name.starts_with('/') || tfile::is_url(name) ? name : directory + name;
    };
    for (std::size_t mark = line.rfind('#'); mark != std::string::npos; mark = line.rfind('#', mark - 1)) {
      if (line[mark - 1] != ' ' && line[mark - 1] != '\t') continue;
      const std::string all = from_list(line), file = parse_chain_name(all).file;
      if (is_there(file) && file.size() > all.size() - line.size() + mark) break;
      line.resize(line.find_last_not_of(" \t", mark - 1) + 1);
    }
    const bool is_list = line.starts_with('@') && !is_there(from_list(line));
    return is_list ? "@" + from_list(line.substr(1)) : from_list(line);
  }

  const tfile::RemoteOptions& remote_;
  int lists_ = 0;  // that were read
};

}  // namespace

bool is_there(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

ChainName parse_chain_name(const std::string& name) {
  const bool is_url = tfile::is_url(name);
  if (!is_url && is_there(name)) return {name, ""};
  if (!is_url) {
    if (auto found = behind_a_file(name)) return *std::move(found);
  }
  if (const std::size_t mark = name.find("?#"); mark != std::string::npos)
    return {name.substr(0, mark), name.substr(mark + 2)};
  const std::size_t begin = path_begin(name);
  const std::size_t slash = name.find(std::string(kSuffix) + "/", begin);
  if (slash != std::string::npos && slash + kSuffix.size() + 1 < name.size()) {
    const std::string file = name.substr(0, slash + kSuffix.size());
    if (is_url || !is_directory(file)) return {file, name.substr(slash + kSuffix.size() + 1)};
  }
  const std::size_t colon = table_colon(name, begin);
  if (colon == std::string::npos) return {name, ""};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

Result<std::vector<ChainName>> chain_names(const std::string& name, const tfile::RemoteOptions& remote) {
  NameReader names(remote);
  TRY_VOID(names.add(name, 0));
  return std::move(names.all);
}

Result<std::vector<ChainName>> chain_names(const ChainName& name, const tfile::RemoteOptions& remote) {
  NameReader names(remote);
  TRY_VOID(names.add(name));
  return std::move(names.all);
}

}  // namespace tfilefs
