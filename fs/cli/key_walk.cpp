// SPDX-License-Identifier: Apache-2.0
#include "cli/key_walk.h"

#include <cstddef>
#include <cstdint>
#include <set>

#include "printable.h"
#include "root_file.h"
#include "tfile/source.h"
#include "told_names.h"
#include "vfs/names/key_names.h"

namespace tfilefs {
namespace {

struct KeyWalk {
  const tfile::File& file;
  const std::function<void(const tfile::KeyInfo&, const std::string&)>& visit;
  std::set<std::uint64_t> seen;  // addresses of directories, which may contain each other
  std::vector<std::string> wrong;

  void enter(const tfile::DirectoryListing& directory, const std::string& path, std::size_t depth) {
    constexpr std::size_t kDirectoriesMax = 256;  // in each other
    if (depth > kDirectoriesMax || !seen.insert(directory.seek).second) return;
    const KeyNames names = names_of_keys(directory.keys);
    for (const std::uint32_t key : names.newest)
      look_at(directory.keys[key], path.empty() ? names.shown[key] : path + "/" + names.shown[key], depth);
  }

  void look_at(const tfile::KeyInfo& key, const std::string& path, std::size_t depth) {
    visit(key, path);
    if (key.kind != tfile::KeyKind::directory) return;
    if (const auto below = file.directory(key); below)
      enter(**below, path, depth + 1);
    else
      wrong.push_back(path + ": " + below.error().text);
  }
};

}  // namespace

std::vector<std::string> walk_keys(const tfile::File& file,
                                   const std::function<void(const tfile::KeyInfo&, const std::string& path)>& visit) {
  KeyWalk walk{file, visit, {}, {}};
  walk.enter(*file.root(), "", 0);
  return std::move(walk.wrong);
}

std::string told_tables(const std::string& name) {
  const auto file = tfile::is_url(name) ? Result<std::shared_ptr<const tfile::File>>() : open_root_file(name);
  if (!file || !*file) return "";
  ToldNames tables(8);
  walk_keys(**file, [&](const tfile::KeyInfo& key, const std::string& path) {
    if (key.kind == tfile::KeyKind::table) tables.add(printable(path));
  });
  return tables.size() == 0 ? "; there is no table in it" : "; it has " + tables.text();
}

}  // namespace tfilefs
