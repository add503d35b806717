// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/node_holder.h"

#include <cerrno>

#include "on_behalf.h"
#include "vfs/names/names.h"
#include "vfs/nodes/generation.h"
#include "vfs/nodes/node_directory.h"
#include "vfs/nodes/shown_friends.h"
#include "vfs/nodes/xattr.h"
#include "view/view.h"

namespace tfilefs {

using tfile::fail;

std::vector<ObjectFiles::Name> NodeHolder::own_files(tfile::NodeId at) const {
  if (at != 0) return {};
  std::vector<ObjectFiles::Name> files{{kSchemaName, ViewKind::schema, !is_opaque()}};
  if (!is_opaque()) files.push_back({kAwkwardName, ViewKind::awkward, true});
  return files;
}

std::optional<ViewKind> NodeHolder::find_own_file(tfile::NodeId at, std::string_view name) const {
  if (at == 0 && name == kFriendsName && friends()) return ViewKind::friends;
  for (const ObjectFiles::Name& file : own_files(at)) {
    if (file.name == name) return file.shown_as;
  }
  return std::nullopt;
}

void NodeHolder::view(HeldItem held, Reply<std::shared_ptr<Content>> reply) const {
  loaded_->view(held.index, held.shown_as, context_.strings, std::move(reply));
}
void NodeHolder::view_size(HeldItem held, Reply<std::uint64_t> reply) const {
  loaded_->view_size(held.index, held.shown_as, context_.strings, std::move(reply));
}

Attributes NodeHolder::column_attributes(HeldItem held, std::int64_t length) const {
  const tfile::ColumnId id = *node(held).column;
  const tfile::Column& column = table().columns[id];
  const std::uint64_t stored = loaded_->stored_bytes(id);
  if (held.shown_as == ViewKind::npy)
    return file_attributes(from_, context_.ownership, npy_content(loaded_->streams(), column, length)->size(), stored);
  return file_attributes(from_, context_.ownership, static_cast<std::uint64_t>(length) * column.item_size(), stored);
}

Attributes NodeHolder::view_attributes(std::uint64_t size) const {
  return file_attributes(from_, context_.ownership, size, size);
}

std::optional<Attributes> NodeHolder::known_attributes(HeldItem held) const {
  if (held.shown_as == ViewKind::friends) return directory_attributes(from_, context_.ownership);
  if (held.shown_as != ViewKind::itself && held.shown_as != ViewKind::npy) {
    const auto size = loaded_->known_view_size(held.index, held.shown_as);
    return size ? std::optional(view_attributes(*size)) : std::nullopt;
  }
  if (node(held).column) {
    const auto length = loaded_->known_length(*node(held).column);
    if (!length) return std::nullopt;
    return column_attributes(held, *length);
  }
  Attributes attributes = directory_attributes(from_, context_.ownership);
  // Nodes that are not tried yet are not counted: 1 link.
  if (table().is_untried(held.index)) return attributes;
  attributes.links = 2;
  for (const tfile::NodeId child : node(held).children) attributes.links += !table().nodes[child].column;
  return attributes;
}

std::optional<Attributes> NodeHolder::attributes_but_size(HeldItem held) const {
  if (held.shown_as == ViewKind::friends) return std::nullopt;
  const bool is_column_file = held.shown_as == ViewKind::itself || held.shown_as == ViewKind::npy;
  if (is_column_file && !node(held).column) return std::nullopt;
  return view_attributes(0);
}

void NodeHolder::attributes(HeldItem held, Reply<Attributes> reply) const {
  if (auto known = known_attributes(held)) return reply(*known);
  if (held.shown_as == ViewKind::itself || held.shown_as == ViewKind::npy) {
    auto next = [self = self(), held](std::int64_t length, Reply<Attributes> told) mutable {
      told(self->column_attributes(held, length));
    };
    return loaded_->length(*node(held).column, value_for<std::int64_t>(std::move(reply), std::move(next)));
  }
  auto next = [self = self()](std::uint64_t size, Reply<Attributes> told) mutable {
    told(self->view_attributes(size));
  };
  view_size(held, value_for<std::uint64_t>(std::move(reply), std::move(next)));
}

void NodeHolder::enter(HeldItem held, Freshness, Reply<std::shared_ptr<const Directory>> reply) const {
  if (held.shown_as == ViewKind::friends) {
    const auto all = friends();
    return reply(all ? Result<std::shared_ptr<const Directory>>(all->directory(context_, from_))
                     : tl::unexpected(no_such_entry()));
  }
  if (held.shown_as != ViewKind::itself || node(held).column)
    return reply(fail(ErrorKind::invalid, "not a directory", -1, ENOTDIR));
  if (!table().is_untried(held.index)) return reply(make_node_directory(self(), held.index));
  auto next = [self = self()](LoadedTable::Settled below, Reply<std::shared_ptr<const Directory>> told) mutable {
    told(make_node_directory(self->below(std::move(below.loaded)), below.node));
  };
  loaded_->tried(held.index, value_for<LoadedTable::Settled>(std::move(reply), std::move(next)));
}

void NodeHolder::open(HeldItem held, Reply<OpenedContent> reply) const {
  if (held.shown_as == ViewKind::friends) return Holder::open(held, std::move(reply));
  if (held.shown_as == ViewKind::itself || held.shown_as == ViewKind::npy) {
    if (!node(held).column) return Holder::open(held, std::move(reply));
    const tfile::ColumnId id = *node(held).column;
    auto next = [self = self(), held, id](std::int64_t length, Reply<OpenedContent> told) mutable {
      const auto make = held.shown_as == ViewKind::npy ? npy_content : column_content;
      told(self->opened(make(self->loaded_->streams(), self->table().columns[id], length)));
    };
    return loaded_->length(id, value_for<std::int64_t>(std::move(reply), std::move(next)));
  }
  auto next = [self = self()](std::shared_ptr<Content> made, Reply<OpenedContent> told) mutable {
    if (made->making() != 0) self->note_unread();
    told(self->opened(std::move(made)));
  };
  view(held, value_for<std::shared_ptr<Content>>(std::move(reply), std::move(next)));
}

void NodeHolder::note_unread() const {
  for (const auto& [column, reason] : loaded_->unread()) context_.errors.add(loaded_->path() + "/" + column, reason);
}

void NodeHolder::xattrs(HeldItem held, Reply<Xattrs> reply) const {
  if (held.shown_as != ViewKind::itself) return reply(Xattrs{});
  if (held.index == 0) return reply(table_xattrs());
  if (!node(held).column) return reply(node_xattrs(node(held)));
  const std::stop_token stop = reply.stop_token();
  auto told = [self = self(), held, reply = std::move(reply)](Result<LoadedTable::Settled> settled) mutable {
    if (!settled) settled = LoadedTable::Settled{self->loaded_, held.index};
    self->column_xattrs_of(held, *std::move(settled), std::move(reply));
  };
  loaded_->settled(held.index, Reply<LoadedTable::Settled>(std::move(told), stop));
}

// The other attributes need no length, and the attributes of a column that cannot be read are of most interest.
void NodeHolder::column_xattrs_of(HeldItem held, LoadedTable::Settled settled, Reply<Xattrs> reply) const {
  const std::stop_token stop = reply.stop_token();
  auto told = [settled = std::move(settled), reply = std::move(reply)](Result<std::int64_t> length) mutable {
    const tfile::Node& node = settled.table().nodes[settled.node];
    reply(column_xattrs(node, settled.table().columns[*node.column],
                        length ? std::optional<std::int64_t>(*length) : std::nullopt));
  };
  loaded_->length(*node(held).column, Reply<std::int64_t>(std::move(told), stop));
}

}  // namespace tfilefs
