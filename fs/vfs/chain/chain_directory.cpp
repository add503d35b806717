// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain/chain_directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>
#include <utility>

#include "on_behalf.h"
#include "vfs/chain/live_table.h"
#include "vfs/names/names.h"
#include "vfs/nodes/control_directory.h"
#include "vfs/nodes/generated_directory.h"
#include "vfs/nodes/loaded_table.h"
#include "vfs/nodes/root_file_vnodes.h"
#include "vfs/nodes/table_views.h"

namespace tfilefs {
namespace {

using DirectoryPtr = std::shared_ptr<const Directory>;
using ListingPtr = std::shared_ptr<const Listing>;

std::string below(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string(name) : directory + "/" + std::string(name);
}

// The vnodes of a chain ask for the state of the chain here.
template <class T, class Then>
void with_state(const std::shared_ptr<Chain>& chain, Freshness freshness, Reply<T> reply, Then then) {
  auto next = [then = std::move(then)](ChainStatePtr state, Reply<T> done) mutable {
    then(std::move(state), std::move(done));
  };
  chain->current(freshness, value_for<ChainStatePtr>(std::move(reply), std::move(next)));
}

Attributes directory_of(const Chain& chain, const ChainState& state) {
  return directory_attributes(state.from, chain.context().ownership);
}

// The names in a directory of tables that lead to tables: of these, and of directories.
struct Names {
  std::vector<std::string> tables, directories;
};
Names names_below(const ChainState& state, const std::string& path) {
  const std::string begin = path.empty() ? "" : path + "/";
  Names names;
  std::set<std::string> seen;
  for (const ChainedTable& table : state.tables) {
    if (!table.path.starts_with(begin)) continue;
    const std::string rest = table.path.substr(begin.size());
    const std::string name = rest.substr(0, rest.find('/'));
    if (!seen.insert(name).second) continue;
    (name == rest ? names.tables : names.directories).push_back(name);
  }
  return names;
}

DirectoryPtr chain_directory(std::shared_ptr<Chain>, ChainStatePtr, std::string path);

// A directory of a chain, which is what the function makes of a state of it.
template <class Enter>
GeneratedThing directory_of_state(const std::shared_ptr<Chain>& chain, Enter enter) {
  GeneratedThing thing;
  thing.attributes = [chain](Reply<Attributes> reply) {
    with_state(chain, Freshness::recent, std::move(reply),
               [chain](const ChainStatePtr& state, Reply<Attributes> done) { done(directory_of(*chain, *state)); });
  };
  thing.enter = [chain, enter](Freshness freshness, Reply<DirectoryPtr> reply) {
    with_state(chain, freshness, std::move(reply),
               [enter](ChainStatePtr state, Reply<DirectoryPtr> done) { done(enter(std::move(state))); });
  };
  return thing;
}

// A directory of tables; the root of the chain with an empty path.
Entry tables_of_chain(const std::shared_ptr<Chain>& chain, const std::string& path) {
  GeneratedThing thing = directory_of_state(
      chain, [chain, path](ChainStatePtr state) { return chain_directory(chain, std::move(state), path); });
  thing.known_attributes = [chain] {
    const ChainStatePtr state = chain->known();
    return state ? std::optional(directory_of(*chain, *state)) : std::nullopt;
  };
  thing.xattrs = [chain, is_root = path.empty()](Reply<Xattrs> reply) {
    Xattrs all;
    for (const auto& [key, value] : chain->about().attributes) {
      if (is_root) all.emplace_back("user.tfilefs.meta." + key, value);
    }
    reply(std::move(all));
  };
  return generated(std::move(thing));
}

Entry chain_json(const std::shared_ptr<Chain>& chain) {
  return generated(made_anew([chain](Freshness freshness, Reply<MadeFile> reply) {
    with_state(chain, freshness, std::move(reply), [chain](const ChainStatePtr& state, Reply<MadeFile> done) {
      const std::size_t size = state->json.size();
      done(MadeFile{file_attributes(state->from, chain->context().ownership, size, size),
                    std::make_shared<FixedContent>(state->json)});
    });
  }));
}

// A table of a chain.
class ChainedTables final : public LiveTable {
 public:
  ChainedTables(std::shared_ptr<Chain> chain, std::string path) : chain_(std::move(chain)), path_(std::move(path)) {}
  void current(Freshness freshness, Reply<TableStatePtr> reply) const override {
    with_state(chain_, freshness, std::move(reply),
               [chain = chain_, path = path_](const ChainStatePtr& state, Reply<TableStatePtr> done) {
                 const ChainedTable* table = state->table(path);
                 if (!table) return done(tfile::fail(ErrorKind::stale, "the chain has changed since it was opened"));
                 shape_state(chain->context(), table->shown, below(chain->path(), path), std::move(done));
               });
  }

 private:
  const std::shared_ptr<Chain> chain_;
  const std::string path_;
};

// .files: the files of the chain as they are, whatever its state.
Entry files_of_chain(const std::shared_ptr<Chain>& chain) {
  return generated(directory_of_state(chain, [chain](const ChainStatePtr& state) {
    GeneratedNames names;
    names.count = state->files.size();
    names.name = [state](std::size_t i) { return numbered_name(i, state->members[i].name); };
    names.thing = [chain, state](std::size_t i) {
      return Entry{std::make_shared<const RootFileVnodes>(chain->context(), state->files[i]), {}};
    };
    names.number = [state, name_of = names.name](std::string_view name) -> std::optional<std::size_t> {
      std::size_t number = 0;
      const auto [end, error] = std::from_chars(name.begin(), name.end(), number);
      const bool is_there = error == std::errc() && number < state->files.size() && name_of(number) == name;
      return is_there ? std::optional(number) : std::nullopt;
    };
    names.type = S_IFDIR;
    names.are_listed_whole = false;
    names.same_for_all = false;
    return make_generated_directory(std::move(names));
  }));
}

class ChainDirectory final : public Directory {
 public:
  ChainDirectory(std::shared_ptr<Chain> chain, ChainStatePtr state, std::string path)
      : chain_(std::move(chain)),
        state_(std::move(state)),
        path_(std::move(path)),
        names_(names_below(*state_, path_)) {}

  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    if (const auto shaped = shaped_table(name)) return find_shaped(*shaped, std::move(reply));
    const auto entry = find_entry(name);
    if (!entry) return reply(no_such_entry());
    reply(FoundEntry{*entry, {}, false});
  }

  void list(Reply<ListingPtr> reply) const override {
    auto listing = std::make_shared<ItemListing>();
    for (const std::string& name : names_.directories) listing->add(name, S_IFDIR);
    for (const std::string& name : names_.tables)
      listing->add(name, S_IFDIR, is_shaped(name) ? Entry() : Entry{table(name), {0}});
    if (chain_->context().views_listed) add_views(*listing);
    reply(std::move(listing));
  }

 private:
  static bool has(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  }

  std::shared_ptr<const Vnodes> table(std::string_view name) const {
    const std::string path = below(path_, name);
    return make_live_table(chain_->context(), std::make_shared<const ChainedTables>(chain_, path),
                           state_->table(path)->shown);
  }

  bool is_shaped(std::string_view table) const {
    return chain_->context().shaping.is_for(below(chain_->path(), below(path_, table)));
  }
  // A table that is not shown as it is, or a view of it: it has first to be made.
  std::optional<BesideTable> shaped_table(std::string_view name) const {
    if (has(names_.tables, name))
      return is_shaped(name) ? std::optional<BesideTable>({name, ViewKind::itself}) : std::nullopt;
    const auto view = beside_table(name);
    return view && has(names_.tables, view->table) && is_shaped(view->table) ? view : std::nullopt;
  }
  void find_shaped(const BesideTable& wanted, Reply<FoundEntry> reply) const {
    auto live = std::make_shared<const ChainedTables>(chain_, below(path_, wanted.table));
    auto show = [chain = chain_, live, shown_as = wanted.shown_as](TableStatePtr state) {
      return FoundEntry{{make_live_table(chain->context(), live, std::move(state)), {0, shown_as}}, {}, false};
    };
    live->current(Freshness::recent, answer_with<TableStatePtr>(std::move(reply), std::move(show)));
  }

  std::optional<Entry> find_entry(std::string_view name) const {
    if (has(names_.tables, name)) return Entry{table(name), {0}};
    if (has(names_.directories, name)) return tables_of_chain(chain_, below(path_, name));
    const auto view = beside_table(name);
    if (view && has(names_.tables, view->table)) return Entry{table(view->table), {0, view->shown_as}};
    if (!path_.empty()) return std::nullopt;
    if (name == kChainFilesName) return files_of_chain(chain_);
    if (name == kDatasetName && !chain_->about().metadata.empty())
      return make_control_file({"", [text = chain_->about().metadata] { return text; }}, chain_->context().ownership);
    if (name == kChainJsonName) return chain_json(chain_);
    return std::nullopt;
  }

  void add_views(ItemListing& listing) const {
    for (const std::string& name : names_.tables) {
      const ChainedTable& chained = *state_->table(below(path_, name));
      for (const TableView& view : table_views()) {
        if (view.where == TableView::Where::beside_table && view.is_there(chained.shown->loaded->table(), 0))
          listing.add(name + std::string(view.name), S_IFREG,
                      is_shaped(name) ? Entry() : Entry{table(name), {0, view.shown_as}});
      }
    }
    if (!path_.empty()) return;
    listing.add(std::string(kChainFilesName), S_IFDIR);
    listing.add(std::string(kChainJsonName), S_IFREG);
    if (!chain_->about().metadata.empty()) listing.add(std::string(kDatasetName), S_IFREG);
  }

  const std::shared_ptr<Chain> chain_;
  const ChainStatePtr state_;
  const std::string path_;
  const Names names_;
};

DirectoryPtr chain_directory(std::shared_ptr<Chain> chain, ChainStatePtr state, std::string path) {
  return std::make_shared<const ChainDirectory>(std::move(chain), std::move(state), std::move(path));
}

}  // namespace

Entry make_chains_root(const NamedRoots& roots) {
  std::vector<std::pair<std::string, Entry>> things;
  for (const auto& [name, chain] : roots) things.emplace_back(name, make_chain_root(chain));
  GeneratedThing root;
  root.attributes = [first = things.front().second](Reply<Attributes> reply) {
    first.vnodes->attributes(first.vnode, std::move(reply));
  };
  GeneratedNames names = generated_names(std::move(things));
  names.type = S_IFDIR;
  names.are_listed_whole = false;
  names.same_for_all = false;
  root.enter = [directory = make_generated_directory(std::move(names))](Freshness, Reply<DirectoryPtr> reply) {
    reply(directory);
  };
  return generated(std::move(root));
}

Entry make_chain_root(const std::shared_ptr<Chain>& chain) { return tables_of_chain(chain, ""); }

}  // namespace tfilefs
