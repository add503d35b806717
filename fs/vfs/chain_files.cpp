// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain_files.h"

#include <algorithm>
#include <utility>

#include "vfs/key_names.h"
#include "vfs/table_load.h"

namespace tfilefs {
namespace {

using ListingPtr = std::shared_ptr<const tfile::DirectoryListing>;

// Deeper than programs nest directories of tables, and more tables than they make: a damaged or hostile file ends here.
constexpr std::size_t kDepthMax = 32, kTablesMax = 10'000;

struct Level {
  ListingPtr listing;
  std::string path, original;  // with a slash behind, unless empty
};

class Walk {
 public:
  explicit Walk(const tfile::File& file) : file_(file) {}

  Result<> visit(const Level& directory) {
    if (std::find(above_.begin(), above_.end(), directory.listing->seek) != above_.end()) return {};
    if (above_.size() >= kDepthMax) return {};
    above_.push_back(directory.listing->seek);
    const KeyNames names = names_of_keys(directory.listing->keys);
    for (const std::uint32_t key : names.newest) {
      const tfile::KeyInfo& info = directory.listing->keys[key];
      const std::string path = directory.path + names.shown[key];
      const std::string original = directory.original + std::string(info.name);
      if (info.kind == tfile::KeyKind::table && found.size() < kTablesMax)
        found.push_back({directory.listing, key, path, original});
      if (info.kind != tfile::KeyKind::directory) continue;
      TRY(auto listing, file_.directory(info));
      TRY_VOID(visit({std::move(listing), path + "/", original + "/"}));
    }
    above_.pop_back();
    return {};
  }

  std::vector<TablePlace> found;

 private:
  const tfile::File& file_;
  std::vector<std::uint64_t> above_;
};

}  // namespace

Result<std::vector<TablePlace>> tables_in(const Generation& generation) {
  Walk walk(*generation.file);
  TRY_VOID(walk.visit({generation.file->root(), "", ""}));
  return std::move(walk.found);
}

Result<TablePlace> table_at(const Generation& generation, const std::string& path) {
  Level at{generation.file->root(), "", ""};
  for (std::string_view rest = path;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view name = rest.substr(0, slash);
    const KeyNames names = names_of_keys(at.listing->keys);
    const auto key =
        std::find_if(names.newest.begin(), names.newest.end(), [&](std::uint32_t k) { return names.shown[k] == name; });
    const bool is_last = slash == std::string_view::npos;
    const auto wanted = is_last ? tfile::KeyKind::table : tfile::KeyKind::directory;
    if (key == names.newest.end() || at.listing->keys[*key].kind != wanted)
      return tfile::fail(ErrorKind::not_found, "no table " + path);
    const tfile::KeyInfo& info = at.listing->keys[*key];
    if (is_last) return TablePlace{at.listing, *key, path, at.original + std::string(info.name)};
    TRY(auto listing, generation.file->directory(info));
    at = {std::move(listing), at.path + std::string(name) + "/", at.original + std::string(info.name) + "/"};
    rest.remove_prefix(slash + 1);
  }
}

void load_whole(GenerationPtr generation, const TablePlace& place, Reply<WholeTable> reply) {
  const std::string path = "/" + generation->owner->path() + "/" + place.path;
  const std::stop_token asker = reply.asker();
  auto settle = [generation, reply = std::move(reply)](Result<std::shared_ptr<const LoadedTable>> loaded) mutable {
    if (!loaded) return reply(tl::unexpected(std::move(loaded).error()));
    const std::stop_token waits = reply.asker();
    const LoadedTable& outline = **loaded;
    auto told = [generation = std::move(generation), kept = *loaded,
                 reply = std::move(reply)](Result<LoadedTable::Settled> all) mutable {
      if (!all) return reply(tl::unexpected(std::move(all).error()));
      reply(WholeTable{std::move(generation), std::move(all->loaded)});
    };
    outline.settled(0, Reply<LoadedTable::Settled>(std::move(told), waits));
  };
  load_table(std::move(generation), place.listing, place.key, path,
             Reply<std::shared_ptr<const LoadedTable>>(std::move(settle), asker));
}

}  // namespace tfilefs
