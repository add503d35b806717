// SPDX-License-Identifier: Apache-2.0
#include "repack/file_keys.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "tfile/name.h"

namespace tfilefs {
namespace {

// Deeper than programs nest directories: a damaged or hostile file ends here.
constexpr std::size_t kDepthMax = 64;

bool can_be_in_paths(std::string_view name) { return !name.empty() && name.find('/') == std::string_view::npos; }

using ListingPtr = std::shared_ptr<const tfile::DirectoryListing>;

class Walk {
 public:
  explicit Walk(const tfile::File& file) : file_(file) {}

  Result<> visit(const ListingPtr& listing, const std::string& path) {
    if (std::ranges::count(above_, listing->seek) != 0 || above_.size() >= kDepthMax) return {};
    above_.push_back(listing->seek);
    std::set<std::string_view> seen;  // the newest cycle of a name comes first
    for (std::uint32_t key = 0; key < listing->keys.size(); ++key) {
      const KeyPlace place{listing, key, path};
      const tfile::KeyInfo& info = place.info();
      if (!seen.insert(info.name).second) continue;
      if (info.kind == tfile::KeyKind::directory && !can_be_in_paths(info.name)) {
        found.left_out.push_back("directory '" + std::string(info.name) + "': its name is not possible in a path");
      } else if (info.kind == tfile::KeyKind::directory) {
        found.directories.push_back(place);
        TRY(const ListingPtr below, file_.directory(info));
        TRY_VOID(visit(below, place.path()));
      } else {
        (info.kind == tfile::KeyKind::table ? found.tables : found.objects).push_back(place);
      }
    }
    above_.pop_back();
    return {};
  }

  FileKeys found;

 private:
  const tfile::File& file_;
  std::vector<std::uint64_t> above_;
};

}  // namespace

Result<FileKeys> keys_in(const tfile::File& file) {
  Walk walk(file);
  TRY_VOID(walk.visit(file.root(), ""));
  return std::move(walk.found);
}

namespace {

class InputWalk {
 public:
  explicit InputWalk(const std::function<bool(const std::string&)>& takes_table) : takes_table_(takes_table) {}

  void take(const ChainName& name, const std::shared_ptr<const tfile::File>& file, FileKeys keys) {
    const bool is_first = number_ == 0;
    file_ = tfile::shown_name(name.file);
    std::ranges::move(keys.left_out, std::back_inserter(made.left_out));
    if (is_first) {
      made.first = file;
      for (const KeyPlace& table : keys.tables) kinds_.emplace(table.path(), tfile::KeyKind::table);
      made.tables = std::move(keys.tables);
    }
    for (KeyPlace& directory : keys.directories) {
      if (is_new(directory, tfile::KeyKind::directory)) made.directories.push_back(std::move(directory));
    }
    for (KeyPlace& object : keys.objects) {
      if (is_new(object, tfile::KeyKind::object)) made.objects.push_back({std::move(object), number_});
    }
    for (const KeyPlace& table : is_first || !name.table.empty() ? std::vector<KeyPlace>() : keys.tables) {
      if (takes_table_(std::string(table.info().name)) && is_new(table, tfile::KeyKind::table))
        made.left_out.push_back(table.path() + ": a table of " + file_ + " that the first file does not have");
    }
    ++number_;
  }

  InputKeys made;

 private:
  // Whether nothing has its path yet. A path is of one kind in all files; what has another one is named, and so is what
  // lies in a directory that is none.
  bool is_new(const KeyPlace& place, tfile::KeyKind kind) {
    const bool has_place = place.directory.empty() || is_of(place.directory, tfile::KeyKind::directory);
    const bool is_first = has_place && kinds_.emplace(place.path(), kind).second;
    if (!has_place || !is_of(place.path(), kind))
      made.left_out.push_back(place.path() + ": of " + file_ +
                              ", since an earlier key has its path and is of another kind");
    return is_first;
  }
  bool is_of(const std::string& path, tfile::KeyKind kind) const {
    const auto known = kinds_.find(path);
    return known != kinds_.end() && known->second == kind;
  }

  const std::function<bool(const std::string&)>& takes_table_;
  std::size_t number_ = 0;
  std::string file_;                             // its name, as it is shown
  std::map<std::string, tfile::KeyKind> kinds_;  // by path
};

}  // namespace

Result<InputKeys> keys_of_inputs(OpenInputs& inputs, const std::function<bool(const std::string&)>& takes_table) {
  InputWalk walk(takes_table);
  for (std::size_t number = 0; number < inputs.names().size(); ++number) {
    const ChainName& name = inputs.names()[number];
    TRY(const auto file, inputs.open(number));
    auto keys = keys_in(*file);
    if (!keys) keys.error().text.insert(0, tfile::shown_name(name.file) + ": ");
    TRY(FileKeys found, std::move(keys));
    walk.take(name, file, std::move(found));
  }
  return std::move(walk.made);
}

std::string path_of_key(const std::string& directory, std::string_view name) {
  // So that no two keys of a directory have one path: of "/" it is "%2F", and of "%2F" it is "%252F".
  const bool is_plain = can_be_in_paths(name) && tfile::unescape_name(name) == name;
  const std::string last = is_plain ? std::string(name) : tfile::escape_name(name, SIZE_MAX);
  return (directory.empty() ? "" : directory + "/") + last;
}

std::string KeyPlace::path() const {
  if (info().kind != tfile::KeyKind::directory) return path_of_key(directory, info().name);
  return (directory.empty() ? "" : directory + "/") + std::string(info().name);  // Walk takes no others
}

namespace {

Result<KeyPlace> listed_key(const KeyPlace& at, std::string_view name, tfile::KeyKind kind) {
  const auto key = std::ranges::find(at.listing->keys, name, &tfile::KeyInfo::name);
  if (key == at.listing->keys.end() || key->kind != kind)
    return tfile::fail(ErrorKind::not_found, std::string(kind == tfile::KeyKind::table    ? "no table "
                                                         : kind == tfile::KeyKind::object ? "no object "
                                                                                          : "no directory ") +
                                                 (at.directory.empty() ? "" : at.directory + "/") + std::string(name));
  return KeyPlace{at.listing, static_cast<std::uint32_t>(key - at.listing->keys.begin()), at.directory};
}

}  // namespace

Result<KeyPlace> key_in(const tfile::File& file, std::string_view directory, std::string_view name,
                        tfile::KeyKind kind) {
  KeyPlace at{file.root(), 0, ""};
  while (!directory.empty()) {
    const std::size_t slash = std::min(directory.find('/'), directory.size());
    TRY(const KeyPlace key, listed_key(at, directory.substr(0, slash), tfile::KeyKind::directory));
    TRY(auto below, file.directory(key.info()));
    at = {std::move(below), 0, key.path()};
    directory.remove_prefix(std::min(slash + 1, directory.size()));
  }
  return listed_key(at, name, kind);
}

Result<KeyPlace> key_in(const tfile::File& file, const std::string& path, tfile::KeyKind kind) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : path.substr(0, slash);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::string unescaped = tfile::unescape_name(name);
  auto found = key_in(file, directory, unescaped, kind);
  return found || unescaped == name ? found : key_in(file, directory, name, kind);
}

}  // namespace tfilefs
