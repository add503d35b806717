// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain_directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>
#include <utility>

#include "on_behalf.h"
#include "vfs/control_directory.h"
#include "vfs/live_table.h"
#include "vfs/loaded_table.h"
#include "vfs/names.h"
#include "vfs/root_file_holder.h"
#include "vfs/table_views.h"

namespace tfilefs {
namespace {

using DirectoryPtr = std::shared_ptr<const Directory>;
using ListingPtr = std::shared_ptr<const Listing>;

std::string below(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string(name) : directory + "/" + std::string(name);
}

// Where a holder of a chain's things asks for the state of the chain.
template <class T, class Then>
void with_state(const std::shared_ptr<Chain>& chain, Freshness freshness, Reply<T> reply, Then then) {
  auto next = [then = std::move(then)](ChainStatePtr state, Reply<T> told) mutable {
    then(std::move(state), std::move(told));
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

// A directory of tables; the root of the chain with an empty path.
class ChainHolder final : public Holder {
 public:
  ChainHolder(std::shared_ptr<Chain> chain, std::string path) : chain_(std::move(chain)), path_(std::move(path)) {}

  std::optional<Attributes> known_attributes(HeldItem) const override {
    const ChainStatePtr state = chain_->known();
    return state ? std::optional(directory_of(*chain_, *state)) : std::nullopt;
  }
  void attributes(HeldItem, Reply<Attributes> reply) const override {
    with_state(chain_, Freshness::recent, std::move(reply),
               [chain = chain_](ChainStatePtr state, Reply<Attributes> told) { told(directory_of(*chain, *state)); });
  }
  void xattrs(HeldItem, Reply<Xattrs> reply) const override {
    Xattrs all;
    for (const auto& [key, value] : chain_->about().attributes) {
      if (path_.empty()) all.emplace_back("user.tfilefs.meta." + key, value);
    }
    reply(std::move(all));
  }
  void enter(HeldItem, Freshness freshness, Reply<DirectoryPtr> reply) const override {
    with_state(chain_, freshness, std::move(reply),
               [chain = chain_, path = path_](ChainStatePtr state, Reply<DirectoryPtr> told) {
                 told(chain_directory(chain, std::move(state), path));
               });
  }

 private:
  const std::shared_ptr<Chain> chain_;
  const std::string path_;
};

// .chain.json.
class ChainText final : public Holder {
 public:
  explicit ChainText(std::shared_ptr<Chain> chain) : chain_(std::move(chain)) {}
  void attributes(HeldItem, Reply<Attributes> reply) const override {
    with_state(chain_, Freshness::recent, std::move(reply),
               [chain = chain_](ChainStatePtr state, Reply<Attributes> told) {
                 told(file_attributes(state->from, chain->context().ownership, state->json.size(), state->json.size()));
               });
  }
  void open(HeldItem, Reply<OpenedContent> reply) const override {
    with_state(chain_, Freshness::now, std::move(reply), [](ChainStatePtr state, Reply<OpenedContent> told) {
      OpenedContent opened;
      opened.content = std::make_shared<FixedContent>(state->json);
      opened.cacheable = false;
      told(std::move(opened));
    });
  }

 private:
  const std::shared_ptr<Chain> chain_;
};

// A table of a chain.
class ChainedTables final : public LiveTable {
 public:
  ChainedTables(std::shared_ptr<Chain> chain, std::string path) : chain_(std::move(chain)), path_(std::move(path)) {}
  void current(Freshness freshness, Reply<TableStatePtr> reply) const override {
    with_state(chain_, freshness, std::move(reply),
               [path = path_](const ChainStatePtr& state, Reply<TableStatePtr> told) {
                 const ChainedTable* table = state->table(path);
                 if (!table) return told(tfile::fail(ErrorKind::stale, "the chain has changed since it was opened"));
                 told(table->shown);
               });
  }

 private:
  const std::shared_ptr<Chain> chain_;
  const std::string path_;
};

// .files: the files of the chain as they are, whatever its state.
class FilesDirectory final : public Directory {
 public:
  FilesDirectory(std::shared_ptr<Chain> chain, ChainStatePtr state)
      : chain_(std::move(chain)), state_(std::move(state)) {}
  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(name.begin(), name.end(), number);
    if (error != std::errc() || number >= state_->files.size() || this->name(number) != name)
      return reply(no_such_entry());
    reply(FoundEntry{entry(number), {}, false});
  }
  void list(Reply<ListingPtr> reply) const override {
    auto names = std::make_shared<ItemListing>();
    for (std::size_t i = 0; i < state_->files.size(); ++i) names->add(name(i), S_IFDIR);
    reply(std::move(names));
  }

 private:
  std::string name(std::size_t i) const { return numbered_name(i, state_->members[i].name); }
  Entry entry(std::size_t i) const {
    return {std::make_shared<const RootFileHolder>(chain_->context(), state_->files[i]), {}};
  }
  const std::shared_ptr<Chain> chain_;
  const ChainStatePtr state_;
};

class FilesHolder final : public Holder {
 public:
  explicit FilesHolder(std::shared_ptr<Chain> chain) : chain_(std::move(chain)) {}
  void attributes(HeldItem, Reply<Attributes> reply) const override {
    with_state(chain_, Freshness::recent, std::move(reply),
               [chain = chain_](ChainStatePtr state, Reply<Attributes> told) { told(directory_of(*chain, *state)); });
  }
  void enter(HeldItem, Freshness freshness, Reply<DirectoryPtr> reply) const override {
    with_state(chain_, freshness, std::move(reply), [chain = chain_](ChainStatePtr state, Reply<DirectoryPtr> told) {
      told(std::make_shared<const FilesDirectory>(chain, std::move(state)));
    });
  }

 private:
  const std::shared_ptr<Chain> chain_;
};

class ChainDirectory final : public Directory {
 public:
  ChainDirectory(std::shared_ptr<Chain> chain, ChainStatePtr state, std::string path)
      : chain_(std::move(chain)),
        state_(std::move(state)),
        path_(std::move(path)),
        names_(names_below(*state_, path_)) {}

  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    const auto entry = find_entry(name);
    if (!entry) return reply(no_such_entry());
    reply(FoundEntry{*entry, {}, false});
  }

  void list(Reply<ListingPtr> reply) const override {
    auto listing = std::make_shared<ItemListing>();
    for (const std::string& name : names_.directories) listing->add(name, S_IFDIR);
    for (const std::string& name : names_.tables) listing->add(name, S_IFDIR, {table(name), {0}});
    if (chain_->context().views_listed) add_views(*listing);
    reply(std::move(listing));
  }

 private:
  static bool has(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  }

  std::shared_ptr<const Holder> table(std::string_view name) const {
    const std::string path = below(path_, name);
    return make_live_table(chain_->context(), std::make_shared<const ChainedTables>(chain_, path),
                           state_->table(path)->shown);
  }

  std::optional<Entry> find_entry(std::string_view name) const {
    if (has(names_.tables, name)) return Entry{table(name), {0}};
    if (has(names_.directories, name))
      return Entry{std::make_shared<const ChainHolder>(chain_, below(path_, name)), {}};
    const auto view = beside_table(name);
    if (view && has(names_.tables, view->table)) return Entry{table(view->table), {0, view->shown_as}};
    if (!path_.empty()) return std::nullopt;
    if (name == kChainFilesName) return Entry{std::make_shared<const FilesHolder>(chain_), {}};
    if (name == kDatasetName && !chain_->about().metadata.empty())
      return Entry{
          make_control_file({"", [text = chain_->about().metadata] { return text; }}, chain_->context().ownership), {}};
    if (name == kChainJsonName) return Entry{std::make_shared<const ChainText>(chain_), {}};
    return std::nullopt;
  }

  void add_views(ItemListing& listing) const {
    for (const std::string& name : names_.tables) {
      const ChainedTable& chained = *state_->table(below(path_, name));
      for (const TableView& view : table_views()) {
        if (view.where == TableView::Where::beside_table && view.is_there(chained.shown->loaded->table(), 0))
          listing.add(name + std::string(view.name), S_IFREG, {table(name), {0, view.shown_as}});
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

// The directories of several chains, by name.
class ChainsDirectory final : public Directory {
 public:
  explicit ChainsDirectory(NamedRoots roots) : roots_(std::move(roots)) {}
  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    const auto at = std::ranges::find_if(roots_, [&](const auto& root) { return root.first == name; });
    if (at == roots_.end()) return reply(no_such_entry());
    reply(FoundEntry{{make_chain_root(at->second), {}}, {}, false});
  }
  void list(Reply<ListingPtr> reply) const override {
    auto listing = std::make_shared<ItemListing>();
    for (const auto& [name, chain] : roots_) listing->add(name, S_IFDIR);
    reply(std::move(listing));
  }

 private:
  const NamedRoots roots_;
};

class ChainsHolder final : public Holder {
 public:
  explicit ChainsHolder(NamedRoots roots)
      : first_(roots.front().second), directory_(std::make_shared<const ChainsDirectory>(std::move(roots))) {}
  void attributes(HeldItem held, Reply<Attributes> reply) const override {
    make_chain_root(first_)->attributes(held, std::move(reply));
  }
  void enter(HeldItem, Freshness, Reply<DirectoryPtr> reply) const override { reply(directory_); }

 private:
  const std::shared_ptr<Chain> first_;
  const DirectoryPtr directory_;
};

}  // namespace

std::shared_ptr<const Holder> make_chains_root(NamedRoots roots) {
  return std::make_shared<const ChainsHolder>(std::move(roots));
}

std::shared_ptr<const Holder> make_chain_root(std::shared_ptr<Chain> chain) {
  return std::make_shared<const ChainHolder>(std::move(chain), "");
}

}  // namespace tfilefs
