// SPDX-License-Identifier: Apache-2.0
#include "vfs/keys/key_directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "exec/when_all.h"
#include "on_behalf.h"
#include "vfs/keys/key_vnodes.h"
#include "vfs/names/key_names.h"
#include "vfs/names/name_index.h"
#include "vfs/names/names.h"
#include "vfs/nodes/generation.h"
#include "vfs/nodes/table_views.h"

namespace tfilefs {
namespace {

using tfile::KeyInfo;

constexpr std::pair<std::string_view, ViewKind> kRootFiles[] = {{kHeaderName, ViewKind::header},
                                                                {kMapName, ViewKind::map},
                                                                {kStreamerInfoName, ViewKind::streamer_info},
                                                                {kClassesName, ViewKind::classes},
                                                                {kOriginalName, ViewKind::original}};

using OlderCycle = KeyNames::OlderCycle;

class KeyDirectory final : public Directory {
 public:
  explicit KeyDirectory(std::shared_ptr<KeyVnodes> keys);

  const std::shared_ptr<const Generation>& generation() const override { return keys_->generation(); }
  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    if (const auto vnode = find_vnode(name)) return reply(FoundEntry{{keys_, *vnode}, {}});
    if (const auto file = find_object_file(name)) return keys_->find_in_object(file->key, file->name, std::move(reply));
    const auto view = beside_table(name);
    const auto vnode = view ? find_vnode(view->table) : std::nullopt;
    if (!vnode || vnode->shown_as != ViewKind::itself) return reply(no_such_entry());
    keys_->find_table_view(vnode->index, view->shown_as, std::move(reply));
  }
  void list(Reply<std::shared_ptr<const Listing>>) const override;
  std::optional<std::string> fixed_table_path() const override { return keys_->fixed_table_path({}); }

 private:
  friend class KeyListing;
  using Names = std::vector<std::string>;
  auto shown_name() const {
    return [this](std::uint32_t key) -> std::string_view { return keys_->names()[key]; };
  }
  std::optional<VnodeId> find_vnode(std::string_view name) const;
  struct ObjectFile {
    std::uint32_t key;
    std::string_view name;  // in the directory of its object
  };
  std::optional<ObjectFile> find_object_file(std::string_view name) const;
  // Adds the name of a table's view, unless a key has it.
  void add_view(std::uint32_t key, const TableView& view, Names& names) const;

  const std::shared_ptr<KeyVnodes> keys_;
  std::vector<std::uint32_t> newest_;  // keys that have the bare name, in file order
  std::vector<OlderCycle> older_;      // sorted
  NameIndex index_;                    // of newest_, by the name shown
};

KeyDirectory::KeyDirectory(std::shared_ptr<KeyVnodes> keys) : keys_(std::move(keys)) {
  KeyNames names = names_of_keys(keys_->listing().keys);
  newest_ = std::move(names.newest);
  older_ = std::move(names.older);
  keys_->set_names(std::move(names.shown));
  index_ = NameIndex(newest_.size());
  for (const std::uint32_t key : newest_) index_.add(key, shown_name());
}

std::optional<VnodeId> KeyDirectory::find_vnode(std::string_view name) const {
  if (const auto key = index_.find(name, shown_name())) return VnodeId{*key};
  if (keys_->is_root()) {
    for (const auto& [file, shown_as] : kRootFiles) {
      if (name == file) return VnodeId{0, shown_as};
    }
  }
  if (name == kIndexName) return VnodeId{0, ViewKind::index};
  if (name == kKeysName) return VnodeId{0, ViewKind::keys};
  const auto cycle = parse_cycle(name);
  if (!cycle) return std::nullopt;
  const auto newest = index_.find(cycle->name, shown_name());
  if (!newest) return std::nullopt;
  const std::vector<KeyInfo>& keys = keys_->listing().keys;
  if (keys[*newest].cycle == cycle->cycle) return VnodeId{*newest};
  const auto [begin, end] = std::equal_range(older_.begin(), older_.end(), OlderCycle{*newest, 0});
  for (auto older = begin; older != end; ++older) {
    if (keys[older->key].cycle == cycle->cycle) return VnodeId{older->key};
  }
  return std::nullopt;
}

// Files of objects are found beside them as well: "h.svg" is "h/plot.svg".
std::optional<KeyDirectory::ObjectFile> KeyDirectory::find_object_file(std::string_view name) const {
  constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
      {kPictureSuffix, kPlotName}, {".csv", kSpreadsheetName}, {".json", kObjectJsonName}};
  for (const auto& [suffix, file] : kFiles) {
    const auto stem = without_suffix(name, suffix);
    const auto vnode = stem ? find_vnode(*stem) : std::nullopt;
    if (vnode && vnode->shown_as == ViewKind::itself &&
        keys_->listing().keys[vnode->index].kind == tfile::KeyKind::object)
      return ObjectFile{vnode->index, file};
  }
  return std::nullopt;
}

// Bare names; then, if views are listed, older cycles, the files about the whole file, and those made of tables.
class KeyListing final : public Listing {
 public:
  // `views`: the views of the tables, if views are listed.
  KeyListing(std::shared_ptr<const KeyDirectory> directory, std::optional<std::vector<std::string>> views)
      : directory_(std::move(directory)),
        cycles_(views ? directory_->older_.size() : 0),
        files_(views && directory_->keys_->is_root() ? std::size(kRootFiles) : 0) {
    if (!views) return;
    views_ = *std::move(views);
    if (!directory_->index_.find(kIndexName, directory_->shown_name())) views_.emplace_back(kIndexName);
    views_.emplace_back(kKeysName);
  }

  std::size_t size() const override { return directory_->newest_.size() + cycles_ + files_ + views_.size(); }

  void item(std::size_t i, Item& into) const override {
    const KeyVnodes& keys = *directory_->keys_;
    if (into.entry.vnodes != directory_->keys_) into.entry.vnodes = directory_->keys_;
    into.type = S_IFDIR;
    if (i < directory_->newest_.size()) {
      const std::uint32_t key = directory_->newest_[i];
      into.name = keys.names()[key];
      into.entry.vnode = {key};
      return;
    }
    i -= directory_->newest_.size();
    if (i < cycles_) {
      const OlderCycle& older = directory_->older_[i];
      into.name = keys.names()[older.newest] + ";" + std::to_string(keys.listing().keys[older.key].cycle);
      into.entry.vnode = {older.key};
      return;
    }
    i -= cycles_;
    into.type = S_IFREG;
    if (i < files_) {
      const auto& [name, shown_as] = kRootFiles[i];
      into.name = name;
      if (shown_as == ViewKind::classes) into.type = S_IFDIR;
      into.entry.vnode = {0, shown_as};
      return;
    }
    into.name = views_[i - files_];
    into.entry.vnodes = nullptr;  // it has none before the table is read
  }

 private:
  const std::shared_ptr<const KeyDirectory> directory_;
  const std::size_t cycles_, files_;
  std::vector<std::string> views_;  // names
};

void KeyDirectory::add_view(std::uint32_t key, const TableView& view, Names& names) const {
  std::string name = keys_->names()[key] + std::string(view.name);
  if (!index_.find(name, shown_name())) names.push_back(std::move(name));
}

void KeyDirectory::list(Reply<std::shared_ptr<const Listing>> reply) const {
  auto self = std::static_pointer_cast<const KeyDirectory>(shared_from_this());
  if (!generation()->context.views_listed) return reply(std::make_shared<const KeyListing>(self, std::nullopt));
  std::vector<std::uint32_t> tables;
  for (const std::uint32_t key : newest_)
    if (keys_->listing().keys[key].kind == tfile::KeyKind::table) tables.push_back(key);
  const std::size_t count = tables.size();
  // The tables tell one after the other which files they have. Without an answer the listing has no such names.
  auto ask = [self, tables = std::move(tables)](std::size_t i, Names& names, Reply<void> answer) {
    auto add = [self, key = tables[i], &names](const Result<std::vector<TableView>>& views, Reply<void> done) {
      for (std::size_t v = 0; views && v < views->size(); ++v) self->add_view(key, (*views)[v], names);
      done({});
    };
    self->keys_->views_beside(tables[i], on_behalf_of<std::vector<TableView>>(std::move(answer), std::move(add)));
  };
  auto show = [self](Names names) -> std::shared_ptr<const Listing> {
    return std::make_shared<const KeyListing>(self, std::move(names));
  };
  when_all(count, 1, Names(), std::move(ask), answer_with<Names>(std::move(reply), std::move(show)));
}

}  // namespace

std::shared_ptr<const Directory> make_key_directory(std::shared_ptr<const Generation> generation,
                                                    std::shared_ptr<const tfile::DirectoryListing> listing,
                                                    std::string path, std::vector<std::uint64_t> ancestors,
                                                    bool of_fixed_table) {
  return std::make_shared<const KeyDirectory>(std::make_shared<KeyVnodes>(
      std::move(generation), std::move(listing), std::move(path), std::move(ancestors), of_fixed_table));
}

std::shared_ptr<const Directory> make_root_directory(const std::shared_ptr<const Generation>& generation) {
  return make_key_directory(generation, generation->file->root(), generation->owner->path(), {});
}

}  // namespace tfilefs
