// SPDX-License-Identifier: Apache-2.0
#include "repack/file_keys.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace tfilefs {
namespace {

// Deeper than programs nest directories: a damaged or hostile file ends here.
constexpr std::size_t kDepthMax = 64;

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
      if (info.name.empty() || info.name.find('/') != std::string_view::npos) {
        found.left_out.push_back("key '" + std::string(info.name) + "': no path can have its name");
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

Result<KeyPlace> table_in(const tfile::File& file, const std::string& path) {
  KeyPlace at{file.root(), 0, ""};
  for (std::string_view rest = path;;) {
    const std::size_t slash = rest.find('/');
    const bool is_last = slash == std::string_view::npos;
    const auto wanted = is_last ? tfile::KeyKind::table : tfile::KeyKind::directory;
    const auto key = std::ranges::find(at.listing->keys, rest.substr(0, slash), &tfile::KeyInfo::name);
    if (key == at.listing->keys.end() || key->kind != wanted)
      return tfile::fail(ErrorKind::not_found, "no table " + path);
    at.key = static_cast<std::uint32_t>(key - at.listing->keys.begin());
    if (is_last) return at;
    TRY(auto below, file.directory(*key));
    at = {std::move(below), 0, at.path()};
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace tfilefs
