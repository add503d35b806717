// SPDX-License-Identifier: Apache-2.0
#include "vfs/keys/table_vnodes.h"

#include "tfile/name.h"
#include "vfs/friends/table_friends.h"
#include "vfs/keys/key_directory.h"
#include "vfs/keys/key_vnodes.h"
#include "vfs/names/names.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/generation.h"
#include "vfs/nodes/node_directory.h"
#include "vfs/nodes/xattr.h"
#include "view/view.h"

namespace tfilefs {

using tfile::fail;
using tfile::Node;

namespace {

// Whether it is made of an object as a whole or of its parts, and not of a table.
bool is_of_object(ViewKind shown_as) {
  switch (shown_as) {
    case ViewKind::object_json:
    case ViewKind::object_streamer_info:
    case ViewKind::plot:
    case ViewKind::plot_log_x:
    case ViewKind::plot_log_y:
    case ViewKind::plot_log_xy:
    case ViewKind::plot_log_z:
    case ViewKind::plot_log_xz:
    case ViewKind::plot_log_yz:
    case ViewKind::plot_log_xyz:
    case ViewKind::spreadsheet:
    case ViewKind::object_text:
      return true;
    default:
      return false;
  }
}

}  // namespace

TableVnodes::TableVnodes(std::shared_ptr<const Generation> generation, std::shared_ptr<const LoadedTable> loaded,
                         std::shared_ptr<const tfile::DirectoryListing> listing, std::uint32_t key,
                         std::shared_ptr<const ObjectFiles> object, bool is_made,
                         std::shared_ptr<const ShownFriends> friends)
    : ColumnVnodes(generation->context, std::move(loaded), key_provenance(*generation, listing->keys[key])),
      generation_(std::move(generation)),
      listing_(std::move(listing)),
      key_(key),
      bytes_(generation_, listing_, key),
      object_(std::move(object)),
      is_made_(is_made),
      friends_before_(std::move(friends)) {}

std::vector<ObjectFiles::Name> TableVnodes::own_files(tfile::NodeId at) const {
  std::vector<ObjectFiles::Name> files;
  if (at == 0 && (object_ || is_opaque())) files.push_back({kObjectBytesName, ViewKind::object_bin, false});
  if (object_) {
    const auto texts = object_->names(at);
    files.insert(files.end(), texts.begin(), texts.end());
  }
  if (at != 0) return files;
  if (!object_ || !table().columns.empty()) files.push_back({kSchemaName, ViewKind::schema, !is_opaque()});
  if (object_ || is_opaque()) return files;
  files.push_back({kAwkwardName, ViewKind::awkward, true});
  files.push_back({kIndexName, ViewKind::index, true});
  return files;
}

std::optional<ViewKind> TableVnodes::find_own_file(tfile::NodeId at, std::string_view name) const {
  if (at != 0 && !object_) return std::nullopt;
  if (name == kAttributesName && table().attribute_sets > 0) return ViewKind::attributes;
  const auto found = ColumnVnodes::find_own_file(at, name);
  return found || !object_ ? found : object_->find(at, name);
}

std::shared_ptr<const ShownFriends> TableVnodes::friends() const {
  if (object_ || !loaded().chosen_by().empty() || is_opaque()) return nullptr;
  return generation_->friends(listing_->keys[key_].seek, false,
                              [this] { return friends_in_file(generation_, loaded_table()); });
}

std::shared_ptr<const ShownFriends> TableVnodes::friends_in_expressions() const {
  if (friends_before_ || loaded().chosen_by().empty()) return friends_before_ ? friends_before_ : friends();
  // Chosen by an option: its friends are those of the table as it is stored, which were found then.
  return generation_->friends(listing_->keys[key_].seek, true, [] { return nullptr; });
}

WriteCapability TableVnodes::accepts(VnodeId vnode) const {
  if (vnode.shown_as != ViewKind::itself || is_made_ || is_opaque()) return WriteCapability::nothing;
  if (is_as_a_whole() && node(vnode).column) return WriteCapability::nothing;
  if (is_as_a_whole()) return object_ ? WriteCapability::removal : WriteCapability::removal_of_table;
  return node(vnode).column ? WriteCapability::items : WriteCapability::columns;
}

// Objects, and tables that are not written, are renamed and removed only as a whole.
bool TableVnodes::is_as_a_whole() const { return object_ || !listing_->keys[key_].can_change; }

// The directory of attribute sets is not written, even where the table is.
std::optional<std::string> TableVnodes::fixed_table_path(VnodeId vnode) const {
  const bool is_of_sets = vnode.shown_as == ViewKind::attributes;
  if (object_ || is_made_ || (!is_as_a_whole() && !is_of_sets)) return std::nullopt;
  return loaded().path();
}

bool TableVnodes::goes_with_key(VnodeId vnode) const {
  switch (vnode.shown_as) {
    case ViewKind::itself:
      return is_as_a_whole() && !is_made_ && node(vnode).column;
    case ViewKind::object_bin:
    case ViewKind::object_json:
    case ViewKind::object_streamer_info:
      return true;
    case ViewKind::schema:
      return is_opaque() || generation_->context.views_listed;
    default:
      return generation_->context.views_listed;
  }
}

// A column is made from the files that store its branch; every other file from all files of the table.
void TableVnodes::admit(VnodeId vnode, Access access, const CallerPtr& by, Reply<void> reply) const {
  const bool of_column = (vnode.shown_as == ViewKind::itself || vnode.shown_as == ViewKind::npy) && node(vnode).column;
  if (loaded().uses_friends()) return reply(not_admitted());  // friends are for root and the user who mounts
  const bool is_directory = vnode.shown_as == ViewKind::itself && !of_column;
  if (is_directory || table().siblings.empty()) return generation_->admit(access, by, std::move(reply));
  generation_->admit(access, by, std::move(reply),
                     of_column ? table().siblings_of(table().columns[*node(vnode).column].stream) : table().siblings);
}

void TableVnodes::view(VnodeId vnode, Reply<std::shared_ptr<Content>> reply) const {
  if (is_of_object(vnode.shown_as)) return object_->content(vnode.index, vnode.shown_as, std::move(reply));
  ColumnVnodes::view(vnode, std::move(reply));
}
void TableVnodes::view_size(VnodeId vnode, Reply<std::uint64_t> reply) const {
  if (is_of_object(vnode.shown_as)) return view(vnode, size_of(std::move(reply)));
  ColumnVnodes::view_size(vnode, std::move(reply));
}

bool TableVnodes::is_remote() const { return generation_->source->traits().starts_reads; }

OpenedContent TableVnodes::opened(std::shared_ptr<Content> content) const {
  return OpenedContent{std::move(content), generation_};
}

std::shared_ptr<const ColumnVnodes> TableVnodes::below(std::shared_ptr<const LoadedTable> branch) const {
  return std::make_shared<const TableVnodes>(generation_, std::move(branch), listing_, key_, nullptr, is_made_,
                                             friends_before_);
}

void TableVnodes::find_alias(const tfile::TableAlias& alias, std::string_view name, Reply<FoundEntry> reply) const {
  auto self = std::static_pointer_cast<const TableVnodes>(shared_from_this());
  auto find = [self, name = std::string(name)](std::shared_ptr<const LoadedTable> aliased, Reply<FoundEntry> done) {
    auto made = std::make_shared<const TableVnodes>(self->generation_, std::move(aliased), self->listing_, self->key_,
                                                    nullptr, true);
    make_node_directory(std::move(made), 0)->find(name, std::move(done));
  };
  auto log = [self](const std::string& left_out, const std::string& reason) {
    self->context().errors.add(self->loaded().path() + "/" + tfile::escape_name(left_out), reason);
  };
  loaded().aliased(alias, friends_in_expressions(), std::move(log),
                   value_for<std::shared_ptr<const LoadedTable>>(std::move(reply), std::move(find)));
}

void TableVnodes::find_chosen(const std::string& expression, ViewKind shown_as, Reply<FoundEntry> reply) const {
  if (object_) return reply(no_such_entry());
  auto self = std::static_pointer_cast<const TableVnodes>(shared_from_this());
  const FriendsPtr friends = friends_in_expressions();
  auto show = [self, shown_as, friends](std::shared_ptr<const LoadedTable> chosen) {
    auto made = std::make_shared<const TableVnodes>(self->generation_, std::move(chosen), self->listing_, self->key_,
                                                    nullptr, true, friends);
    const bool is_same = made->is_same_for_all({});
    return FoundEntry{{std::move(made), {0, shown_as}}, {}, is_same};
  };
  loaded().chosen(expression, friends, context().errors,
                  answer_with<std::shared_ptr<const LoadedTable>>(std::move(reply), std::move(show)));
}

Xattrs TableVnodes::table_xattrs() const { return key_xattrs(listing_->keys[key_]); }

std::optional<Attributes> TableVnodes::known_attributes(VnodeId vnode) const {
  if (vnode.shown_as == ViewKind::attributes) return directory_attributes(from(), context().ownership);
  if (vnode.shown_as == ViewKind::object_bin) return bytes_.known_attributes();
  if (is_of_object(vnode.shown_as)) {
    const auto size = object_->known_size(vnode.index, vnode.shown_as);
    return size ? std::optional(view_attributes(*size)) : std::nullopt;
  }
  return ColumnVnodes::known_attributes(vnode);
}

std::optional<Attributes> TableVnodes::attributes_but_size(VnodeId vnode) const {
  if (vnode.shown_as == ViewKind::object_bin || vnode.shown_as == ViewKind::attributes) return std::nullopt;
  return ColumnVnodes::attributes_but_size(vnode);
}

void TableVnodes::attributes(VnodeId vnode, Reply<Attributes> reply) const {
  if (vnode.shown_as == ViewKind::object_bin) return bytes_.attributes(std::move(reply));
  ColumnVnodes::attributes(vnode, std::move(reply));
}

void TableVnodes::enter(VnodeId vnode, Freshness freshness, Reply<std::shared_ptr<const Directory>> reply) const {
  if (vnode.shown_as == ViewKind::attributes) return enter_attributes(std::move(reply));
  ColumnVnodes::enter(vnode, freshness, std::move(reply));
}

void TableVnodes::open(VnodeId vnode, Reply<OpenedContent> reply) const {
  if (vnode.shown_as == ViewKind::object_bin) return bytes_.open(std::move(reply));
  ColumnVnodes::open(vnode, std::move(reply));
}

void TableVnodes::enter_attributes(Reply<std::shared_ptr<const Directory>> reply) const {
  auto self = std::static_pointer_cast<const TableVnodes>(shared_from_this());
  auto job = [self]() -> Result<std::shared_ptr<const Directory>> {
    const tfile::KeyInfo& key = self->listing_->keys[self->key_];
    TRY(auto sets, self->generation_->file->attribute_sets(key));
    const std::string path = self->loaded().path().substr(1) + "/" + std::string(kAttributesName);
    return make_key_directory(self->generation_, std::move(sets), path, {self->listing_->seek}, true);
  };
  answer_blocking(generation_->context.cache, std::move(job), std::move(reply));
}

std::shared_ptr<const Directory> make_table_directory(std::shared_ptr<const Generation> generation,
                                                      std::shared_ptr<const LoadedTable> loaded,
                                                      std::shared_ptr<const tfile::DirectoryListing> listing,
                                                      std::uint32_t key) {
  return make_node_directory(
      std::make_shared<const TableVnodes>(std::move(generation), std::move(loaded), std::move(listing), key, nullptr),
      0);
}

std::shared_ptr<const Directory> make_array_directory(std::shared_ptr<const Generation> generation,
                                                      std::shared_ptr<const ObjectFiles> object,
                                                      std::shared_ptr<const tfile::DirectoryListing> listing,
                                                      std::uint32_t key) {
  auto arrays = std::make_shared<const LoadedTable>(object->object(), generation->context.cache, TableLabel{});
  return make_node_directory(std::make_shared<const TableVnodes>(std::move(generation), std::move(arrays),
                                                                 std::move(listing), key, std::move(object)),
                             0);
}

Result<Entry> make_table_view(std::shared_ptr<const Generation> generation, std::shared_ptr<const LoadedTable> loaded,
                              std::shared_ptr<const tfile::DirectoryListing> listing, std::uint32_t key,
                              ViewKind shown_as) {
  auto table =
      std::make_shared<const TableVnodes>(std::move(generation), std::move(loaded), std::move(listing), key, nullptr);
  if (table->is_opaque()) return no_such_view("no views, the table cannot be read: " + table->table().reason);
  return Entry{std::move(table), {0, shown_as}};
}

}  // namespace tfilefs
