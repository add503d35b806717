// SPDX-License-Identifier: Apache-2.0
#include "vfs/table_holder.h"

#include <cerrno>

#include "vfs/generation.h"
#include "vfs/key_holder.h"
#include "vfs/names.h"
#include "vfs/node_directory.h"
#include "vfs/xattr.h"
#include "view/view.h"

namespace tfilefs {

using tfile::fail;
using tfile::Node;

TableHolder::TableHolder(std::shared_ptr<const Generation> generation, std::shared_ptr<const LoadedTable> loaded,
                         std::shared_ptr<const tfile::DirectoryListing> listing, std::uint32_t key,
                         std::shared_ptr<const ObjectFiles> object)
    : generation_(std::move(generation)),
      loaded_(std::move(loaded)),
      listing_(std::move(listing)),
      key_(key),
      from_(key_provenance(*generation_, listing_->keys[key])),
      bytes_(generation_, listing_, key),
      object_(std::move(object)) {}

std::vector<ObjectFiles::Name> TableHolder::own_files(tfile::NodeId at) const {
  std::vector<ObjectFiles::Name> files;
  if (at == 0 && (object_ || is_opaque())) files.push_back({kObjectBytesName, Form::object_bin, false});
  if (object_) {
    const auto texts = object_->names(at);
    files.insert(files.end(), texts.begin(), texts.end());
  }
  if (at != 0) return files;
  if (!object_ || !table().columns.empty()) files.push_back({kSchemaName, Form::schema, !is_opaque()});
  if (!object_ && !is_opaque()) files.push_back({kAwkwardName, Form::awkward, true});
  return files;
}

std::optional<Form> TableHolder::find_own_file(tfile::NodeId at, std::string_view name) const {
  if (at != 0 && !object_) return std::nullopt;
  for (const ObjectFiles::Name& file : own_files(at)) {
    if (file.name == name) return file.form;
  }
  return object_ ? object_->find(at, name) : std::nullopt;
}

Accepts TableHolder::accepts(Slot slot) const {
  if (slot.form != Form::itself || is_opaque()) return Accepts::nothing;
  if (is_as_a_whole()) return node(slot).column ? Accepts::nothing : Accepts::removal;
  return node(slot).column ? Accepts::items : Accepts::columns;
}

// Objects, and tables that are not written: they are renamed and removed with all that they show.
bool TableHolder::is_as_a_whole() const { return object_ || !listing_->keys[key_].can_change; }

bool TableHolder::goes_with_key(Slot slot) const {
  switch (slot.form) {
    case Form::itself:
      return is_as_a_whole() && node(slot).column;
    case Form::object_bin:
    case Form::object_json:
      return true;
    case Form::schema:
      return is_opaque() || generation_->context.views_listed;
    default:
      return generation_->context.views_listed;
  }
}

// A column is made from where its branch is stored; every other file from all of the table.
void TableHolder::admit(Slot slot, Access access, const CallerPtr& by, Reply<void> reply) const {
  const bool of_column = (slot.form == Form::itself || slot.form == Form::npy) && node(slot).column;
  const bool is_directory = slot.form == Form::itself && !of_column;
  if (is_directory || table().siblings.empty()) return generation_->admit(access, by, std::move(reply));
  generation_->admit(access, by, std::move(reply),
                     of_column ? table().siblings_of(table().columns[*node(slot).column].stream) : table().siblings);
}

void TableHolder::view(Slot slot, Reply<std::shared_ptr<Content>> reply) const {
  switch (slot.form) {
    case Form::object_json:
    case Form::plot:
    case Form::plot_log_x:
    case Form::plot_log_y:
    case Form::plot_log_xy:
    case Form::plot_log_z:
    case Form::plot_log_xz:
    case Form::plot_log_yz:
    case Form::plot_log_xyz:
    case Form::spreadsheet:
    case Form::object_text:
      return object_->content(slot.index, slot.form, std::move(reply));
    default:
      return loaded_->view(slot.index, slot.form, generation_->context.strings, std::move(reply));
  }
}

Attributes TableHolder::column_attributes(Slot slot, std::int64_t length) const {
  const tfile::ColumnId id = *node(slot).column;
  const tfile::Column& column = table().columns[id];
  const Ownership& ownership = generation_->context.ownership;
  const std::uint64_t stored = loaded_->stored_bytes(id);
  if (slot.form == Form::npy)
    return file_attributes(from_, ownership, npy_content(loaded_->streams(), column, length)->size(), stored);
  return file_attributes(from_, ownership, static_cast<std::uint64_t>(length) * column.item_size(), stored);
}

Attributes TableHolder::view_attributes(std::uint64_t size) const {
  return file_attributes(from_, generation_->context.ownership, size, size);
}

std::optional<Attributes> TableHolder::known_attributes(Slot slot) const {
  switch (slot.form) {
    case Form::itself:
    case Form::npy: {
      if (!node(slot).column) {
        Attributes attributes = directory_attributes(from_, generation_->context.ownership);
        // What nobody has looked into is not counted: 1 link.
        if (table().is_untried(slot.index)) return attributes;
        attributes.links = 2;
        for (const tfile::NodeId child : node(slot).children) attributes.links += !table().nodes[child].column;
        return attributes;
      }
      const auto length = loaded_->known_length(*node(slot).column);
      if (!length) return std::nullopt;
      return column_attributes(slot, *length);
    }
    case Form::object_bin:
      return bytes_.known_attributes();
    default:
      return std::nullopt;
  }
}

std::optional<Attributes> TableHolder::attributes_but_size(Slot slot) const {
  const bool is_column_file = slot.form == Form::itself || slot.form == Form::npy;
  if (slot.form == Form::object_bin || (is_column_file && !node(slot).column)) return std::nullopt;
  return view_attributes(0);
}

void TableHolder::attributes(Slot slot, Reply<Attributes> reply) const {
  if (auto known = known_attributes(slot)) return reply(*known);
  const std::stop_token asker = reply.asker();
  auto self = std::static_pointer_cast<const TableHolder>(shared_from_this());
  switch (slot.form) {
    case Form::itself:
    case Form::npy: {
      auto told = [self, slot, reply = std::move(reply)](Result<std::int64_t> length) mutable {
        if (!length) return reply(tl::unexpected(std::move(length).error()));
        reply(self->column_attributes(slot, *length));
      };
      return loaded_->length(*node(slot).column, Reply<std::int64_t>(std::move(told), asker));
    }
    case Form::object_bin:
      return bytes_.attributes(std::move(reply));
    default: {
      auto told = [self, reply = std::move(reply)](Result<std::shared_ptr<Content>> made) mutable {
        if (!made) return reply(tl::unexpected(std::move(made).error()));
        reply(self->view_attributes((*made)->size()));
      };
      return view(slot, Reply<std::shared_ptr<Content>>(std::move(told), asker));
    }
  }
}

void TableHolder::enter(Slot slot, Freshness, Reply<std::shared_ptr<const Directory>> reply) const {
  if (slot.form != Form::itself || node(slot).column)
    return reply(fail(ErrorKind::invalid, "not a directory", -1, ENOTDIR));
  auto self = std::static_pointer_cast<const TableHolder>(shared_from_this());
  if (!table().is_untried(slot.index)) return reply(make_node_directory(std::move(self), slot.index));
  const std::stop_token asker = reply.asker();
  auto told = [self, reply = std::move(reply)](Result<std::shared_ptr<const LoadedTable>> below) mutable {
    if (!below) return reply(tl::unexpected(std::move(below).error()));
    auto holder =
        std::make_shared<const TableHolder>(self->generation_, *std::move(below), self->listing_, self->key_, nullptr);
    reply(make_node_directory(std::move(holder), 1));
  };
  loaded_->tried(slot.index, Reply<std::shared_ptr<const LoadedTable>>(std::move(told), asker));
}

void TableHolder::open(Slot slot, Reply<OpenedContent> reply) const {
  const std::stop_token asker = reply.asker();
  auto self = std::static_pointer_cast<const TableHolder>(shared_from_this());
  switch (slot.form) {
    case Form::itself:
    case Form::npy: {
      if (!node(slot).column) return Holder::open(slot, std::move(reply));
      const tfile::ColumnId id = *node(slot).column;
      auto opened = [self, slot, id, reply = std::move(reply)](Result<std::int64_t> length) mutable {
        if (!length) return reply(tl::unexpected(std::move(length).error()));
        const auto make = slot.form == Form::npy ? npy_content : column_content;
        reply(OpenedContent{make(self->loaded_->streams(), self->table().columns[id], *length), self->generation_});
      };
      return loaded_->length(id, Reply<std::int64_t>(std::move(opened), asker));
    }
    case Form::object_bin:
      return bytes_.open(std::move(reply));
    default: {
      auto opened = [self, reply = std::move(reply)](Result<std::shared_ptr<Content>> made) mutable {
        if (!made) return reply(tl::unexpected(std::move(made).error()));
        reply(OpenedContent{*std::move(made), self->generation_});
      };
      return view(slot, Reply<std::shared_ptr<Content>>(std::move(opened), asker));
    }
  }
}

void TableHolder::xattrs(Slot slot, Reply<Xattrs> reply) const {
  if (slot.form != Form::itself) return reply(Xattrs{});
  if (slot.index == 0) return reply(key_xattrs(listing_->keys[key_]));
  if (!node(slot).column) return reply(node_xattrs(node(slot)));
  const std::stop_token asker = reply.asker();
  auto told = [self = std::static_pointer_cast<const TableHolder>(shared_from_this()), slot,
               reply = std::move(reply)](Result<LoadedTable::Settled> settled) mutable {
    if (!settled) settled = LoadedTable::Settled{self->loaded_->shared_table(), slot.index};
    self->column_xattrs_of(slot, *std::move(settled), std::move(reply));
  };
  loaded_->settled(slot.index, Reply<LoadedTable::Settled>(std::move(told), asker));
}

// The other attributes need no length, and a column that cannot be read is asked about most.
void TableHolder::column_xattrs_of(Slot slot, LoadedTable::Settled settled, Reply<Xattrs> reply) const {
  const std::stop_token asker = reply.asker();
  auto told = [settled = std::move(settled), reply = std::move(reply)](Result<std::int64_t> length) mutable {
    const Node& node = settled.table->nodes[settled.node];
    reply(column_xattrs(node, settled.table->columns[*node.column],
                        length ? std::optional<std::int64_t>(*length) : std::nullopt));
  };
  loaded_->length(*node(slot).column, Reply<std::int64_t>(std::move(told), asker));
}

}  // namespace tfilefs
