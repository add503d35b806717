// SPDX-License-Identifier: Apache-2.0
#include "vfs/keys/key_vnodes.h"

#include <algorithm>
#include <climits>

#include "path_name.h"
#include "tfile/source.h"
#include "vfs/friends/table_friends.h"
#include "vfs/keys/key_directory.h"
#include "vfs/keys/key_list.h"
#include "vfs/keys/object_directory.h"
#include "vfs/keys/plot_index.h"
#include "vfs/keys/table_vnodes.h"
#include "vfs/names/path_pattern.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/generation.h"
#include "vfs/nodes/loaded_table.h"
#include "vfs/nodes/object_files.h"
#include "vfs/nodes/shaped_table.h"
#include "vfs/nodes/source_content.h"
#include "vfs/nodes/table_load.h"
#include "vfs/nodes/xattr.h"
#include "view/view.h"

namespace tfilefs {

using tfile::fail;
using tfile::KeyInfo;
using tfile::KeyKind;
using DirectoryPtr = std::shared_ptr<const Directory>;
using LoadedTablePtr = std::shared_ptr<const LoadedTable>;

// As deep as a path can go, so that all names made through a mount with rw are found again.
constexpr std::size_t kNestedMax = PATH_MAX / 2;

Provenance key_provenance(const Generation& generation, const KeyInfo& key) {
  Provenance from = generation.state.from;
  if (key.datime != 0) from.modified = {tfile::unix_time(key.datime), 0};
  return from;
}

Xattrs key_xattrs(const KeyInfo& key) {
  return {{"user.tfilefs.name", std::string(key.name)},
          {"user.tfilefs.title", std::string(key.title)},
          {"user.tfilefs.class", std::string(key.class_name)},
          {"user.tfilefs.cycle", std::to_string(key.cycle)}};
}

KeyVnodes::KeyVnodes(std::shared_ptr<const Generation> generation,
                     std::shared_ptr<const tfile::DirectoryListing> listing, std::string path,
                     std::vector<std::uint64_t> ancestors, bool of_fixed_table)
    : generation_(std::move(generation)),
      listing_(std::move(listing)),
      path_(std::move(path)),
      ancestors_(std::move(ancestors)),
      of_fixed_table_(of_fixed_table) {}

std::string KeyVnodes::path_of(std::uint32_t key) const {
  const std::string& name = names_[key].empty() ? std::string(listing_->keys[key].name) : names_[key];
  return path_.empty() ? "/" + name : "/" + path_ + "/" + name;
}

// The path in a mirror begins with the file's; in the mount of one file it has the directories above alone.
std::string KeyVnodes::heading() const {
  const std::vector<std::string> names = names_in(path_);
  if (names.size() > ancestors_.size()) return path_;
  const std::string_view source = generation_->source->name();
  const std::string file = name_in_path(tfile::is_url(source) ? source.substr(0, source.find('?')) : source);
  return path_.empty() ? file : file + "/" + path_;
}

std::vector<std::uint16_t> KeyVnodes::older_cycles(std::uint32_t key) const {
  const KeyInfo& newest = listing_->keys[key];
  std::vector<std::uint16_t> cycles;
  for (const KeyInfo& each : listing_->keys) {
    if (each.name == newest.name && each.cycle < newest.cycle) cycles.push_back(each.cycle);
  }
  return cycles;
}

std::optional<Attributes> KeyVnodes::known_attributes(VnodeId vnode) const {
  const Generation& g = *generation_;
  const Ownership& ownership = g.context.ownership;
  switch (vnode.shown_as) {
    case ViewKind::itself:  // the contents of a key are not read for this, so its directories are not counted: 1 link
      return directory_attributes(key_provenance(g, listing_->keys[vnode.index]), ownership);
    case ViewKind::original: {
      const std::uint64_t size = g.file->source().size();
      return file_attributes(g.state.from, ownership, size, size);
    }
    case ViewKind::map: {
      const auto map = g.map.peek();
      if (!map) return std::nullopt;
      return file_attributes(g.state.from, ownership, (*map)->size(), (*map)->size());
    }
    case ViewKind::classes:
      return directory_attributes(g.state.from, ownership);
    case ViewKind::streamer_info: {
      const auto text = g.streamer_info.peek();
      if (!text) return std::nullopt;
      return file_attributes(g.state.from, ownership, (*text)->size(), (*text)->size());
    }
    default:
      return std::nullopt;
  }
}

std::optional<Attributes> KeyVnodes::attributes_but_size(VnodeId vnode) const {
  switch (vnode.shown_as) {
    case ViewKind::map:
    case ViewKind::index:
    case ViewKind::keys:
    case ViewKind::streamer_info:
      return file_attributes(generation_->state.from, generation_->context.ownership, 0, 0);
    default:
      return std::nullopt;
  }
}

WriteCapability KeyVnodes::accepts(VnodeId vnode) const {
  if (vnode.shown_as != ViewKind::itself) return WriteCapability::nothing;
  if (!listing_->keys[vnode.index].can_change) return WriteCapability::removal_of_table;
  switch (listing_->keys[vnode.index].kind) {
    case KeyKind::directory:
      return WriteCapability::keys;
    case KeyKind::table:
      return listing_->keys[vnode.index].format == tfile::TableFormat::tree ? WriteCapability::columns_of_table
                                                                            : WriteCapability::columns_of_rntuple;
    case KeyKind::object:
      return WriteCapability::removal;
  }
  return WriteCapability::nothing;
}

std::optional<std::string> KeyVnodes::fixed_table_path(VnodeId) const {
  return of_fixed_table_ ? std::optional("/" + path_) : std::nullopt;
}

void KeyVnodes::attributes(VnodeId vnode, Reply<Attributes> reply) const {
  if (auto known = known_attributes(vnode)) return reply(*known);
  const auto finish = [self = shared_from_this(), this](const Content& content) {
    return file_attributes(generation_->state.from, generation_->context.ownership, content.size(), content.size());
  };
  auto tell = [finish](const std::shared_ptr<Content>& made, Reply<Attributes> done) { done(finish(*made)); };
  content(vnode.shown_as, value_for<std::shared_ptr<Content>>(std::move(reply), std::move(tell)));
}

void KeyVnodes::enter(VnodeId vnode, Freshness, Reply<DirectoryPtr> reply) const {
  if (vnode.shown_as == ViewKind::classes) return enter_classes(generation_, std::move(reply));
  if (vnode.shown_as != ViewKind::itself) return reply(not_a_directory());
  switch (listing_->keys[vnode.index].kind) {
    case KeyKind::directory:
      return enter_directory(vnode.index, std::move(reply));
    case KeyKind::table:
      return enter_table(vnode.index, std::move(reply));
    case KeyKind::object:
      return enter_object(vnode.index, std::move(reply));
  }
}

void KeyVnodes::enter_directory(std::uint32_t key, Reply<DirectoryPtr> reply) const {
  if (ancestors_.size() >= kNestedMax)
    return reply(endless_path("directories are nested deeper than " + std::to_string(kNestedMax)));
  auto job = [self = std::static_pointer_cast<const KeyVnodes>(shared_from_this()), key]() -> Result<DirectoryPtr> {
    const KeyVnodes& above = *self;
    TRY(auto listing, above.generation_->file->directory(above.listing_->keys[key]));
    std::vector<std::uint64_t> ancestors = above.ancestors_;
    ancestors.push_back(above.listing_->seek);
    if (std::find(ancestors.begin(), ancestors.end(), listing->seek) != ancestors.end()) {
      return endless_path("directory at byte " + std::to_string(listing->seek) + " contains itself",
                          static_cast<std::int64_t>(listing->seek));
    }
    const std::string path = above.path_of(key).substr(1);
    for (const std::string& warning : listing->warnings) above.generation_->context.errors.add("/" + path, warning);
    return make_key_directory(above.generation_, std::move(listing), path, std::move(ancestors));
  };
  answer_blocking(generation_->context.cache, std::move(job), std::move(reply));
}

void KeyVnodes::load_table(std::uint32_t key, Reply<std::shared_ptr<const LoadedTable>> reply) const {
  auto shape = [generation = generation_, seek = listing_->keys[key].seek, path = path_of(key)](
                   LoadedTablePtr loaded, Reply<LoadedTablePtr> done) {
    const auto friends = [&] {
      return generation->friends(seek, true, [&] { return friends_in_file(generation, loaded); });
    };
    shape_table(generation->context, loaded, path, friends, std::move(done));
  };
  tfilefs::load_table(generation_, listing_, key, path_of(key),
                      value_for<LoadedTablePtr>(std::move(reply), std::move(shape)));
}

void KeyVnodes::enter_table(std::uint32_t key, Reply<DirectoryPtr> reply) const {
  auto self = std::static_pointer_cast<const KeyVnodes>(shared_from_this());
  auto make = [self, key](LoadedTablePtr loaded, Reply<DirectoryPtr> done) {
    done(make_table_directory(self->generation_, std::move(loaded), self->listing_, key));
  };
  load_table(key, value_for<LoadedTablePtr>(std::move(reply), std::move(make)));
}

void KeyVnodes::find_table_view(std::uint32_t key, ViewKind shown_as, Reply<FoundEntry> reply) const {
  const KeyInfo& info = listing_->keys[key];
  if (info.kind != KeyKind::table)
    return reply(no_such_view("no such view of an object of class " + std::string(info.class_name)));
  auto self = std::static_pointer_cast<const KeyVnodes>(shared_from_this());
  auto make = [self, key, shown_as](LoadedTablePtr loaded) {
    return make_table_view(self->generation_, std::move(loaded), self->listing_, key, shown_as)
        .map([](const Entry& entry) {
          return FoundEntry{entry, {}};
        });
  };
  load_table(key, answer_with<LoadedTablePtr>(std::move(reply), std::move(make)));
}

void KeyVnodes::find_in_object(std::uint32_t key, std::string_view name, Reply<FoundEntry> reply) const {
  auto find = [name = std::string(name)](const DirectoryPtr& object, Reply<FoundEntry> done) {
    object->find(name, answer_with<FoundEntry>(std::move(done), [](FoundEntry found) {
                   found.own_name.clear();  // it has one in that directory
                   return found;
                 }));
  };
  enter_object(key, value_for<DirectoryPtr>(std::move(reply), std::move(find)));
}

void KeyVnodes::views_beside(std::uint32_t key, Reply<std::vector<TableView>> reply) const {
  using Views = std::vector<TableView>;
  auto look = [](Result<LoadedTablePtr> loaded, Reply<Views> views) {
    if (!loaded || !(*loaded)->table().reason.empty()) return views(Views{});
    auto choose = [loaded = *loaded](Result<LoadedTable::Settled> all, Reply<Views> done) {
      Views found;
      for (const TableView& view : table_views()) {
        if (view.where == TableView::Where::beside_table && view.is_there(all ? all->table() : loaded->table(), 0))
          found.push_back(view);
      }
      done(std::move(found));
    };
    (*loaded)->settled(0, on_behalf_of<LoadedTable::Settled>(std::move(views), std::move(choose)));
  };
  load_table(key, on_behalf_of<LoadedTablePtr>(std::move(reply), std::move(look)));
}

// An object that cannot be read as its class, or takes more memory than the mount has, is shown as its bytes, and the
// reason is logged.
void KeyVnodes::enter_object(std::uint32_t key, Reply<DirectoryPtr> reply) const {
  auto self = std::static_pointer_cast<const KeyVnodes>(shared_from_this());
  using ObjectPtr = std::shared_ptr<const ObjectFiles>;
  auto make = [self, key](Result<ObjectPtr> object) -> Result<DirectoryPtr> {
    const Generation& g = *self->generation_;
    if (!object) {
      if (!is_lasting(object.error()) && !is_refusal(object.error())) return tl::unexpected(std::move(object).error());
      const bool is_damaged = object.error().kind == ErrorKind::damaged;
      if (is_damaged || is_refusal(object.error())) g.context.errors.add(self->path_of(key), object.error());
      return make_object_directory(self->generation_, self->listing_, key, object.error());
    }
    for (const std::string& warning : object->get()->object()->warnings)
      g.context.errors.add(self->path_of(key), warning);
    return make_array_directory(self->generation_, *std::move(object), self->listing_, key);
  };
  load_object(generation_->context.cache, generation_->file, listing_, key,
              answer_of_result<ObjectPtr>(std::move(reply), std::move(make)));
}

namespace {
Result<std::shared_ptr<Content>> fixed(Result<std::string> text) {
  TRY(std::string bytes, std::move(text));
  return std::make_shared<FixedContent>(std::move(bytes));
}
}  // namespace

void KeyVnodes::content(ViewKind shown_as, Reply<std::shared_ptr<Content>> reply) const {
  const Generation& g = *generation_;
  const auto make_once = [&](Once<std::shared_ptr<Content>> once, auto job) {
    const auto start = [&](Reply<std::shared_ptr<Content>> made) {
      auto with_stop = [job = std::move(job), stop = made.stop_token()] { return job(stop); };
      answer_blocking(g.context.cache, std::move(with_stop), std::move(made));
    };
    once.get(start, std::move(reply));
  };
  const auto text_of_this = [&](auto make) {
    return [self = shared_from_this(), this, make](const std::stop_token& stop) { return fixed(make(*this, stop)); };
  };
  switch (shown_as) {
    case ViewKind::header:
      return reply(std::make_shared<FixedContent>(header_text(*g.file)));
    case ViewKind::original:
      return reply(std::make_shared<SourceContent>(generation_));
    case ViewKind::map:
      return make_once(g.map, [file = g.file](const std::stop_token&) -> Result<std::shared_ptr<Content>> {
        TRY(const auto records, file->record_map());
        return std::make_shared<FixedContent>(map_text(records));
      });
    case ViewKind::index:
      return make_once(plot_index_, text_of_this([](const KeyVnodes& keys, const std::stop_token&) {
                         return plot_index(*keys.generation_->file, *keys.listing_, keys.heading(), keys.ancestors_);
                       }));
    case ViewKind::keys:
      return make_once(key_list_, text_of_this([](const KeyVnodes& keys, const std::stop_token& stop) {
                         return key_list(*keys.generation_->file, *keys.listing_, keys.ancestors_, stop);
                       }));
    case ViewKind::streamer_info:
      return make_once(g.streamer_info, [file = g.file](const std::stop_token&) -> Result<std::shared_ptr<Content>> {
        TRY(const auto classes, file->classes());
        return std::make_shared<FixedContent>(streamer_info_text(*classes));
      });
    default:
      return reply(is_a_directory());
  }
}

void KeyVnodes::open(VnodeId vnode, Reply<OpenedContent> reply) const {
  auto tell = [generation = generation_](std::shared_ptr<Content> made, Reply<OpenedContent> done) {
    done(OpenedContent{std::move(made), generation});
  };
  content(vnode.shown_as, value_for<std::shared_ptr<Content>>(std::move(reply), std::move(tell)));
}

void KeyVnodes::xattrs(VnodeId vnode, Reply<Xattrs> reply) const {
  if (vnode.shown_as != ViewKind::itself) return reply(Xattrs{});
  reply(key_xattrs(listing_->keys[vnode.index]));
}

void KeyVnodes::more_xattrs(VnodeId vnode, Reply<Xattrs> reply) const {
  if (vnode.shown_as != ViewKind::itself) return reply(Xattrs{});
  const KeyInfo& key = listing_->keys[vnode.index];
  if (key.kind == KeyKind::object) return reply(Xattrs{{"user.tfilefs.stored", std::to_string(key.nbytes)}});
  if (key.kind != KeyKind::table) return reply(Xattrs{});
  auto tell = [](Result<LoadedTablePtr> loaded, Reply<Xattrs> done) {
    if (loaded) return done(more_table_xattrs((*loaded)->table()));
    if (!is_lasting(loaded.error())) return done(tl::unexpected(std::move(loaded).error()));
    done(Xattrs{{"user.tfilefs.reason", loaded.error().text}});
  };
  load_table(vnode.index, on_behalf_of<LoadedTablePtr>(std::move(reply), std::move(tell)));
}

}  // namespace tfilefs
