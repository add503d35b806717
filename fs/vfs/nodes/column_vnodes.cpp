// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/column_vnodes.h"

#include "on_behalf.h"
#include "vfs/names/names.h"
#include "vfs/nodes/generation.h"
#include "vfs/nodes/node_directory.h"
#include "vfs/nodes/shown_friends.h"
#include "vfs/nodes/xattr.h"
#include "view/view.h"

namespace tfilefs {

using tfile::fail;

std::vector<ObjectFiles::Name> ColumnVnodes::own_files(tfile::NodeId at) const {
  if (at != 0) return {};
  std::vector<ObjectFiles::Name> files{{kSchemaName, ViewKind::schema, !is_opaque()}};
  if (is_opaque()) return files;
  files.push_back({kAwkwardName, ViewKind::awkward, true});
  files.push_back({kIndexName, ViewKind::index, true});
  return files;
}

std::optional<ViewKind> ColumnVnodes::find_own_file(tfile::NodeId at, std::string_view name) const {
  if (at == 0 && name == kFriendsName && friends()) return ViewKind::friends;
  for (const ObjectFiles::Name& file : own_files(at)) {
    if (file.name == name) return file.shown_as;
  }
  return std::nullopt;
}

void ColumnVnodes::view(VnodeId vnode, Reply<std::shared_ptr<Content>> reply) const {
  loaded_->view(vnode.index, vnode.shown_as, context_.strings, std::move(reply));
}
void ColumnVnodes::view_size(VnodeId vnode, Reply<std::uint64_t> reply) const {
  loaded_->view_size(vnode.index, vnode.shown_as, context_.strings, std::move(reply));
}

Attributes ColumnVnodes::column_attributes(VnodeId vnode, std::int64_t length) const {
  const tfile::ColumnId id = *node(vnode).column;
  const tfile::Column& column = table().columns[id];
  const std::uint64_t stored = loaded_->stored_bytes(id);
  if (vnode.shown_as == ViewKind::npy)
    return file_attributes(from_, context_.ownership, npy_content(loaded_->streams(), column, length)->size(), stored);
  return file_attributes(from_, context_.ownership, static_cast<std::uint64_t>(length) * column.item_size(), stored);
}

Attributes ColumnVnodes::view_attributes(std::uint64_t size) const {
  return file_attributes(from_, context_.ownership, size, size);
}

std::optional<Attributes> ColumnVnodes::known_attributes(VnodeId vnode) const {
  if (vnode.shown_as == ViewKind::friends) return directory_attributes(from_, context_.ownership);
  if (vnode.shown_as != ViewKind::itself && vnode.shown_as != ViewKind::npy) {
    const auto size = loaded_->known_view_size(vnode.index, vnode.shown_as);
    return size ? std::optional(view_attributes(*size)) : std::nullopt;
  }
  if (node(vnode).column) {
    const auto length = loaded_->known_length(*node(vnode).column);
    if (!length) return std::nullopt;
    return column_attributes(vnode, *length);
  }
  Attributes attributes = directory_attributes(from_, context_.ownership);
  // Nodes that are not resolved yet are not counted: 1 link.
  if (table().is_unresolved(vnode.index)) return attributes;
  attributes.links = 2;
  for (const tfile::NodeId child : node(vnode).children) attributes.links += !table().nodes[child].column;
  return attributes;
}

std::optional<Attributes> ColumnVnodes::attributes_but_size(VnodeId vnode) const {
  if (vnode.shown_as == ViewKind::friends) return std::nullopt;
  const bool is_column_file = vnode.shown_as == ViewKind::itself || vnode.shown_as == ViewKind::npy;
  if (is_column_file && !node(vnode).column) return std::nullopt;
  return view_attributes(0);
}

void ColumnVnodes::attributes(VnodeId vnode, Reply<Attributes> reply) const {
  if (auto known = known_attributes(vnode)) return reply(*known);
  if (vnode.shown_as == ViewKind::itself || vnode.shown_as == ViewKind::npy) {
    auto next = [self = self(), vnode](std::int64_t length, Reply<Attributes> done) mutable {
      done(self->column_attributes(vnode, length));
    };
    return loaded_->length(*node(vnode).column, value_for<std::int64_t>(std::move(reply), std::move(next)));
  }
  auto next = [self = self()](std::uint64_t size, Reply<Attributes> done) mutable {
    done(self->view_attributes(size));
  };
  view_size(vnode, value_for<std::uint64_t>(std::move(reply), std::move(next)));
}

void ColumnVnodes::enter(VnodeId vnode, Freshness, Reply<std::shared_ptr<const Directory>> reply) const {
  if (vnode.shown_as == ViewKind::friends) {
    const auto all = friends();
    return reply(all ? Result<std::shared_ptr<const Directory>>(all->directory(context_, from_))
                     : tl::unexpected(no_such_entry()));
  }
  if (vnode.shown_as != ViewKind::itself || node(vnode).column) return reply(not_a_directory());
  if (!table().is_unresolved(vnode.index)) return reply(make_node_directory(self(), vnode.index));
  auto next = [self = self()](LoadedTable::Settled below, Reply<std::shared_ptr<const Directory>> done) mutable {
    done(make_node_directory(self->below(std::move(below.loaded)), below.node));
  };
  loaded_->resolve_branch(vnode.index, value_for<LoadedTable::Settled>(std::move(reply), std::move(next)));
}

void ColumnVnodes::open(VnodeId vnode, Reply<OpenedContent> reply) const {
  if (vnode.shown_as == ViewKind::friends) return Vnodes::open(vnode, std::move(reply));
  if (vnode.shown_as == ViewKind::itself || vnode.shown_as == ViewKind::npy) {
    if (!node(vnode).column) return Vnodes::open(vnode, std::move(reply));
    const tfile::ColumnId id = *node(vnode).column;
    auto next = [self = self(), vnode, id](std::int64_t length, Reply<OpenedContent> done) mutable {
      const auto make = vnode.shown_as == ViewKind::npy ? npy_content : column_content;
      done(self->opened(make(self->loaded_->streams(), self->table().columns[id], length)));
    };
    return loaded_->length(id, value_for<std::int64_t>(std::move(reply), std::move(next)));
  }
  auto next = [self = self()](std::shared_ptr<Content> made, Reply<OpenedContent> done) mutable {
    if (made->build_id() != 0) self->note_unread();
    done(self->opened(std::move(made)));
  };
  view(vnode, value_for<std::shared_ptr<Content>>(std::move(reply), std::move(next)));
}

void ColumnVnodes::note_unread() const {
  for (const auto& [column, reason] : loaded_->unread()) context_.errors.add(loaded_->path() + "/" + column, reason);
}

void ColumnVnodes::xattrs(VnodeId vnode, Reply<Xattrs> reply) const {
  if (vnode.shown_as != ViewKind::itself) return reply(Xattrs{});
  if (vnode.index == 0) return reply(table_xattrs());
  if (!node(vnode).column) return reply(node_xattrs(node(vnode)));
  auto show = [self = self(), vnode](Result<LoadedTable::Settled> settled, Reply<Xattrs> done) {
    if (!settled) settled = LoadedTable::Settled{self->loaded_, vnode.index};
    self->column_xattrs_of(vnode, *std::move(settled), std::move(done));
  };
  loaded_->settled(vnode.index, on_behalf_of<LoadedTable::Settled>(std::move(reply), std::move(show)));
}

void ColumnVnodes::more_xattrs(VnodeId vnode, Reply<Xattrs> reply) const {
  if (vnode.shown_as != ViewKind::itself) return reply(Xattrs{});
  if (vnode.index == 0) return reply(more_table_xattrs(table()));
  const auto of_node = [](const LoadedTable::Settled& known) {
    return more_node_xattrs(known.table(), known.node, known.loaded->stored_below(known.node));
  };
  // The content of a directory may stay unknown.
  if (!node(vnode).column && !table().is_unresolved(vnode.index)) return reply(of_node({loaded_, vnode.index}));
  loaded_->settled(vnode.index, answer_with<LoadedTable::Settled>(std::move(reply), of_node));
}

// The other attributes need no length, and the attributes of a column that cannot be read are of most interest.
void ColumnVnodes::column_xattrs_of(VnodeId vnode, LoadedTable::Settled settled, Reply<Xattrs> reply) const {
  auto show = [settled = std::move(settled)](const Result<std::int64_t>& length, Reply<Xattrs> done) {
    const tfile::Node& node = settled.table().nodes[settled.node];
    done(column_xattrs(node, settled.table().columns[*node.column],
                       length ? std::optional<std::int64_t>(*length) : std::nullopt));
  };
  loaded_->length(*node(vnode).column, on_behalf_of<std::int64_t>(std::move(reply), std::move(show)));
}

}  // namespace tfilefs
