// SPDX-License-Identifier: Apache-2.0
#include "cli/source_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "tfile/remote_listing.h"
#include "tfile/source.h"
#include "vfs/names/expand_sources.h"
#include "vfs/names/path_pattern.h"
#include "waited.h"

namespace tfilefs {
namespace {

class AllNames final : public DirectorySink {
 public:
  bool add(const std::string& name, InodeId, const Attributes& attributes, std::uint64_t) override {
    if (name != "." && name != "..") names.push_back({name, S_ISDIR(attributes.mode)});
    return true;
  }
  std::vector<ListedName> names;
};

bool is_separator(char c) { return c == '/' || c == ':'; }

// The place of the first separator behind a name that ends in .root; npos: there is none.
std::size_t separator_behind_root(std::string_view path) {
  constexpr std::string_view kEnd = ".root";
  for (std::size_t at = path.find(kEnd); at != std::string_view::npos; at = path.find(kEnd, at + 1)) {
    const std::size_t end = at + kEnd.size();
    if (end < path.size() && is_separator(path[end])) return end;
  }
  return std::string_view::npos;
}

// A colon in front of .root is one of the name.
SourcePath split_url(const std::string& url) {
  const auto [server, path, query] = tfile::url_parts(url);
  std::size_t at = separator_behind_root(path);
  if (at == std::string_view::npos) {
    const std::size_t root = path.rfind(".root");
    at = path.find(':', root == std::string_view::npos ? 0 : root);
  }
  if (at == std::string_view::npos) return {url, ""};
  return {std::string(server).append(path.substr(0, at)).append(query), std::string(path.substr(at + 1))};
}

bool is_plain_file(const std::string& name) {
  struct stat status {};
  return ::stat(name.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// A file, or a pattern of files.
bool leads_to_files(const std::string& name) {
  if (is_plain_file(name)) return true;
  const auto found = has_pattern(name) ? expand_sources(name) : Result<std::vector<std::string>>();
  return found && !found->empty() && is_plain_file(found->front());
}

}  // namespace

SourcePath split_source(const std::string& path) {
  if (tfile::is_url(path)) return split_url(path);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return {path, ""};
  for (std::size_t at = path.size(); at-- > 1;)
    if (is_separator(path[at]) && leads_to_files(path.substr(0, at))) return {path.substr(0, at), path.substr(at + 1)};
  const std::size_t at = separator_behind_root(path);
  return at == std::string::npos ? SourcePath{path, ""} : SourcePath{path.substr(0, at), path.substr(at + 1)};
}

Result<std::vector<ListedName>> names_in(FileSystem& fs, InodeId directory) {
  TRY(const HandleId handle, waited<HandleId>([&](auto reply) { fs.opendir(directory, std::move(reply)); }));
  auto sink = std::make_shared<AllNames>();
  TRY_VOID(waited<void>([&](auto reply) { fs.readdir(handle, 0, false, sink, std::move(reply)); }));
  fs.release(handle);
  std::ranges::sort(sink->names, {}, &ListedName::name);
  return std::move(sink->names);
}

}  // namespace tfilefs
