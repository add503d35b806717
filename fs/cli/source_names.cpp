// SPDX-License-Identifier: Apache-2.0
#include "cli/source_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "tfile/source.h"
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

// "F.root/PATH", or "F.root:PATH", as uproot has it.
SourcePath split_at_root(const std::string& path) {
  constexpr std::string_view kEnd = ".root";
  for (std::size_t at = path.find(kEnd); at != std::string::npos; at = path.find(kEnd, at + 1)) {
    const std::size_t end = at + kEnd.size();
    if (end < path.size() && (path[end] == '/' || path[end] == ':')) return {path.substr(0, end), path.substr(end + 1)};
  }
  return {path, ""};
}

}  // namespace

SourcePath split_source(const std::string& path) {
  for (std::size_t end = path.find('/', 1); !tfile::is_url(path); end = path.find('/', end + 1)) {
    struct stat status {};
    const std::string head = path.substr(0, end);
    const bool is_there = ::stat(head.c_str(), &status) == 0;
    if (is_there && S_ISREG(status.st_mode) && end != std::string::npos) return {head, path.substr(end + 1)};
    if (end != std::string::npos) continue;
    if (is_there) return {path, ""};
    break;
  }
  return split_at_root(path);
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
