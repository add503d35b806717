// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain/chain_files.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "on_behalf.h"
#include "vfs/names/key_names.h"
#include "vfs/nodes/table_load.h"

namespace tfilefs {
namespace {

using KeyListingPtr = std::shared_ptr<const tfile::DirectoryListing>;

// Deeper than programs nest directories of tables, and more tables than they make: a damaged or hostile file ends here.
constexpr std::size_t kDirectoriesDeepMax = 32, kTablesMax = 10'000;

struct Level {
  KeyListingPtr listing;
  std::string path, original;  // with a slash behind, unless empty
};

std::string of_cycle(const std::string& name, const tfile::KeyInfo& key) {
  return name + ";" + std::to_string(key.cycle);
}

enum class Cycles : std::uint8_t { newest, each };  // `each`: with ";CYCLE" behind its name

class TableWalk {
 public:
  TableWalk(const tfile::File& file, Cycles cycles) : file_(file), cycles_(cycles) {}

  Result<> visit(const Level& directory) {
    if (std::find(above_.begin(), above_.end(), directory.listing->seek) != above_.end()) return {};
    if (above_.size() >= kDirectoriesDeepMax) return {};
    above_.push_back(directory.listing->seek);
    const KeyNames names = names_of_keys(directory.listing->keys);
    for (const std::uint32_t key : names.newest) {
      const tfile::KeyInfo& info = directory.listing->keys[key];
      if (info.kind == tfile::KeyKind::table) add_table(directory, names, key);
      if (info.kind != tfile::KeyKind::directory) continue;
      TRY(auto listing, file_.directory(info));
      TRY_VOID(visit({std::move(listing), directory.path + names.shown[key] + "/",
                      directory.original + std::string(info.name) + "/"}));
    }
    above_.pop_back();
    return {};
  }

  std::vector<TablePlace> found;

 private:
  void add_table(const Level& directory, const KeyNames& names, std::uint32_t newest) {
    const std::string path = directory.path + names.shown[newest];
    const std::string original = directory.original + std::string(directory.listing->keys[newest].name);
    if (cycles_ == Cycles::newest) return add({directory.listing, newest, path, original});
    const auto add_cycle = [&](std::uint32_t key) {
      const tfile::KeyInfo& info = directory.listing->keys[key];
      if (info.kind == tfile::KeyKind::table)
        add({directory.listing, key, of_cycle(path, info), of_cycle(original, info)});
    };
    add_cycle(newest);
    const auto [begin, end] = std::equal_range(names.older.begin(), names.older.end(), KeyNames::OlderCycle{newest, 0});
    for (auto older = begin; older != end; ++older) add_cycle(older->key);
  }
  void add(TablePlace place) {
    if (found.size() < kTablesMax) found.push_back(std::move(place));
  }

  const tfile::File& file_;
  const Cycles cycles_;
  std::vector<std::uint64_t> above_;
};

// The key that is shown under a name, or a cycle of one.
std::optional<std::uint32_t> key_named(const tfile::DirectoryListing& listing, std::string_view name,
                                       tfile::KeyKind kind) {
  const KeyNames names = names_of_keys(listing.keys);
  const auto is_it = [&](std::uint32_t newest, std::uint32_t key, bool with_cycle) {
    const tfile::KeyInfo& info = listing.keys[key];
    return info.kind == kind && (with_cycle ? of_cycle(names.shown[newest], info) : names.shown[newest]) == name;
  };
  for (const std::uint32_t key : names.newest) {
    if (is_it(key, key, false)) return key;
  }
  for (const std::uint32_t key : names.newest) {
    if (is_it(key, key, true)) return key;
  }
  for (const KeyNames::OlderCycle& older : names.older) {
    if (is_it(older.newest, older.key, true)) return older.key;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<TablePlace>> tables_in(const Generation& generation) {
  TableWalk walk(*generation.file, Cycles::newest);
  TRY_VOID(walk.visit({generation.file->root(), "", ""}));
  return std::move(walk.found);
}

Result<std::vector<TablePlace>> tables_named(const Generation& generation, const std::string& name) {
  for (const Cycles cycles : {Cycles::newest, Cycles::each}) {
    if (cycles == Cycles::each && name.find(';') == std::string::npos) break;
    TableWalk walk(*generation.file, cycles);
    TRY_VOID(walk.visit({generation.file->root(), "", ""}));
    const auto named = [&](const TablePlace& place) { return place.original == name || place.path == name; };
    const auto found = std::find_if(walk.found.begin(), walk.found.end(), named);
    if (found != walk.found.end()) return std::vector{*found};
  }
  return std::vector<TablePlace>();
}

Result<TablePlace> table_at(const Generation& generation, const std::string& path) {
  Level at{generation.file->root(), "", ""};
  for (std::string_view rest = path;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view name = rest.substr(0, slash);
    const bool is_last = slash == std::string_view::npos;
    const auto key = key_named(*at.listing, name, is_last ? tfile::KeyKind::table : tfile::KeyKind::directory);
    if (!key) return tfile::fail(ErrorKind::not_found, "no table " + path);
    const tfile::KeyInfo& info = at.listing->keys[*key];
    if (is_last) return TablePlace{at.listing, *key, path, at.original + std::string(info.name)};
    TRY(auto listing, generation.file->directory(info));
    at = {std::move(listing), at.path + std::string(name) + "/", at.original + std::string(info.name) + "/"};
    rest.remove_prefix(slash + 1);
  }
}

void load_whole(GenerationPtr generation, const TablePlace& place, Reply<WholeTable> reply) {
  const std::string path = "/" + generation->owner->path() + "/" + place.path;
  auto settle = [generation](std::shared_ptr<const LoadedTable> loaded, Reply<WholeTable> found) mutable {
    const LoadedTable& unresolved = *loaded;
    auto found_all = [generation = std::move(generation), kept = loaded](LoadedTable::Settled all,
                                                                         Reply<WholeTable> done) mutable {
      done(WholeTable{std::move(generation), std::move(all.loaded)});
    };
    unresolved.settled(0, value_for<LoadedTable::Settled>(std::move(found), std::move(found_all)));
  };
  load_table(std::move(generation), place.listing, place.key, path,
             value_for<std::shared_ptr<const LoadedTable>>(std::move(reply), std::move(settle)));
}

}  // namespace tfilefs
