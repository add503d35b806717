// SPDX-License-Identifier: Apache-2.0
#include "vfs/table_holder.h"

#include <cerrno>

#include "vfs/blocking.h"
#include "vfs/generation.h"
#include "vfs/key_directory.h"
#include "vfs/key_holder.h"
#include "vfs/names.h"
#include "vfs/table_directory.h"
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
  if (at == 0 && (object_ || is_opaque())) files.push_back({kObjectBytesName, ShownAs::object_bin, false});
  if (object_) {
    const auto texts = object_->names(at);
    files.insert(files.end(), texts.begin(), texts.end());
  }
  if (at != 0) return files;
  if (!object_ || !table().columns.empty()) files.push_back({kSchemaName, ShownAs::schema, !is_opaque()});
  if (!object_ && !is_opaque()) files.push_back({kAwkwardName, ShownAs::awkward, true});
  return files;
}

std::optional<ShownAs> TableHolder::find_own_file(tfile::NodeId at, std::string_view name) const {
  if (at != 0 && !object_) return std::nullopt;
  if (name == kAttributesName && table().attribute_sets > 0) return ShownAs::attributes;
  for (const ObjectFiles::Name& file : own_files(at)) {
    if (file.name == name) return file.shown_as;
  }
  return object_ ? object_->find(at, name) : std::nullopt;
}

Accepts TableHolder::accepts(HeldItem held) const {
  if (held.shown_as != ShownAs::itself || is_opaque()) return Accepts::nothing;
  if (is_as_a_whole() && node(held).column) return Accepts::nothing;
  if (is_as_a_whole()) return object_ ? Accepts::removal : Accepts::removal_of_table;
  return node(held).column ? Accepts::items : Accepts::columns;
}

// Objects, and tables that are not written, are renamed and removed only as a whole.
bool TableHolder::is_as_a_whole() const { return object_ || !listing_->keys[key_].can_change; }

std::optional<std::string> TableHolder::fixed_table_path(HeldItem) const {
  if (object_ || !is_as_a_whole()) return std::nullopt;
  return loaded_->path();
}

bool TableHolder::goes_with_key(HeldItem held) const {
  switch (held.shown_as) {
    case ShownAs::itself:
      return is_as_a_whole() && node(held).column;
    case ShownAs::object_bin:
    case ShownAs::object_json:
      return true;
    case ShownAs::schema:
      return is_opaque() || generation_->context.views_listed;
    default:
      return generation_->context.views_listed;
  }
}

// A column is made from the files that store its branch; every other file from all files of the table.
void TableHolder::admit(HeldItem held, Access access, const CallerPtr& by, Reply<void> reply) const {
  const bool of_column = (held.shown_as == ShownAs::itself || held.shown_as == ShownAs::npy) && node(held).column;
  const bool is_directory = held.shown_as == ShownAs::itself && !of_column;
  if (is_directory || table().siblings.empty()) return generation_->admit(access, by, std::move(reply));
  generation_->admit(access, by, std::move(reply),
                     of_column ? table().siblings_of(table().columns[*node(held).column].stream) : table().siblings);
}

void TableHolder::view(HeldItem held, Reply<std::shared_ptr<Content>> reply) const {
  switch (held.shown_as) {
    case ShownAs::object_json:
    case ShownAs::plot:
    case ShownAs::plot_log_x:
    case ShownAs::plot_log_y:
    case ShownAs::plot_log_xy:
    case ShownAs::plot_log_z:
    case ShownAs::plot_log_xz:
    case ShownAs::plot_log_yz:
    case ShownAs::plot_log_xyz:
    case ShownAs::spreadsheet:
    case ShownAs::object_text:
      return object_->content(held.index, held.shown_as, std::move(reply));
    default:
      return loaded_->view(held.index, held.shown_as, generation_->context.strings, std::move(reply));
  }
}

Attributes TableHolder::column_attributes(HeldItem held, std::int64_t length) const {
  const tfile::ColumnId id = *node(held).column;
  const tfile::Column& column = table().columns[id];
  const Ownership& ownership = generation_->context.ownership;
  const std::uint64_t stored = loaded_->stored_bytes(id);
  if (held.shown_as == ShownAs::npy)
    return file_attributes(from_, ownership, npy_content(loaded_->streams(), column, length)->size(), stored);
  return file_attributes(from_, ownership, static_cast<std::uint64_t>(length) * column.item_size(), stored);
}

Attributes TableHolder::view_attributes(std::uint64_t size) const {
  return file_attributes(from_, generation_->context.ownership, size, size);
}

std::optional<Attributes> TableHolder::known_attributes(HeldItem held) const {
  switch (held.shown_as) {
    case ShownAs::itself:
    case ShownAs::npy: {
      if (!node(held).column) {
        Attributes attributes = directory_attributes(from_, generation_->context.ownership);
        // Nodes that are not tried yet are not counted: 1 link.
        if (table().is_untried(held.index)) return attributes;
        attributes.links = 2;
        for (const tfile::NodeId child : node(held).children) attributes.links += !table().nodes[child].column;
        return attributes;
      }
      const auto length = loaded_->known_length(*node(held).column);
      if (!length) return std::nullopt;
      return column_attributes(held, *length);
    }
    case ShownAs::attributes:
      return directory_attributes(from_, generation_->context.ownership);
    case ShownAs::object_bin:
      return bytes_.known_attributes();
    default:
      return std::nullopt;
  }
}

std::optional<Attributes> TableHolder::attributes_but_size(HeldItem held) const {
  const bool is_column_file = held.shown_as == ShownAs::itself || held.shown_as == ShownAs::npy;
  const bool is_known = held.shown_as == ShownAs::object_bin || held.shown_as == ShownAs::attributes;
  if (is_known || (is_column_file && !node(held).column)) return std::nullopt;
  return view_attributes(0);
}

void TableHolder::attributes(HeldItem held, Reply<Attributes> reply) const {
  if (auto known = known_attributes(held)) return reply(*known);
  const std::stop_token asker = reply.asker();
  auto self = std::static_pointer_cast<const TableHolder>(shared_from_this());
  switch (held.shown_as) {
    case ShownAs::itself:
    case ShownAs::npy: {
      auto told = [self, held, reply = std::move(reply)](Result<std::int64_t> length) mutable {
        if (!length) return reply(tl::unexpected(std::move(length).error()));
        reply(self->column_attributes(held, *length));
      };
      return loaded_->length(*node(held).column, Reply<std::int64_t>(std::move(told), asker));
    }
    case ShownAs::object_bin:
      return bytes_.attributes(std::move(reply));
    default: {
      auto told = [self, reply = std::move(reply)](Result<std::shared_ptr<Content>> made) mutable {
        if (!made) return reply(tl::unexpected(std::move(made).error()));
        reply(self->view_attributes((*made)->size()));
      };
      return view(held, Reply<std::shared_ptr<Content>>(std::move(told), asker));
    }
  }
}

void TableHolder::enter(HeldItem held, Freshness, Reply<std::shared_ptr<const Directory>> reply) const {
  if (held.shown_as == ShownAs::attributes) return enter_attributes(std::move(reply));
  if (held.shown_as != ShownAs::itself || node(held).column)
    return reply(fail(ErrorKind::invalid, "not a directory", -1, ENOTDIR));
  auto self = std::static_pointer_cast<const TableHolder>(shared_from_this());
  if (!table().is_untried(held.index)) return reply(make_node_directory(std::move(self), held.index));
  const std::stop_token asker = reply.asker();
  auto told = [self, reply = std::move(reply)](Result<std::shared_ptr<const LoadedTable>> below) mutable {
    if (!below) return reply(tl::unexpected(std::move(below).error()));
    auto holder =
        std::make_shared<const TableHolder>(self->generation_, *std::move(below), self->listing_, self->key_, nullptr);
    reply(make_node_directory(std::move(holder), 1));
  };
  loaded_->tried(held.index, Reply<std::shared_ptr<const LoadedTable>>(std::move(told), asker));
}

void TableHolder::enter_attributes(Reply<std::shared_ptr<const Directory>> reply) const {
  auto self = std::static_pointer_cast<const TableHolder>(shared_from_this());
  auto job = [self]() -> Result<std::shared_ptr<const Directory>> {
    const tfile::KeyInfo& key = self->listing_->keys[self->key_];
    TRY(auto sets, self->generation_->file->attribute_sets(key));
    const std::string path = self->loaded_->path().substr(1) + "/" + std::string(kAttributesName);
    return make_key_directory(self->generation_, std::move(sets), path, {self->listing_->seek}, true);
  };
  answer_blocking(generation_->context.cache, std::move(job), std::move(reply));
}

void TableHolder::open(HeldItem held, Reply<OpenedContent> reply) const {
  const std::stop_token asker = reply.asker();
  auto self = std::static_pointer_cast<const TableHolder>(shared_from_this());
  switch (held.shown_as) {
    case ShownAs::itself:
    case ShownAs::npy: {
      if (!node(held).column) return Holder::open(held, std::move(reply));
      const tfile::ColumnId id = *node(held).column;
      auto opened = [self, held, id, reply = std::move(reply)](Result<std::int64_t> length) mutable {
        if (!length) return reply(tl::unexpected(std::move(length).error()));
        const auto make = held.shown_as == ShownAs::npy ? npy_content : column_content;
        reply(OpenedContent{make(self->loaded_->streams(), self->table().columns[id], *length), self->generation_});
      };
      return loaded_->length(id, Reply<std::int64_t>(std::move(opened), asker));
    }
    case ShownAs::object_bin:
      return bytes_.open(std::move(reply));
    default: {
      auto opened = [self, reply = std::move(reply)](Result<std::shared_ptr<Content>> made) mutable {
        if (!made) return reply(tl::unexpected(std::move(made).error()));
        if ((*made)->making() != 0) self->note_unread();
        reply(OpenedContent{*std::move(made), self->generation_});
      };
      return view(held, Reply<std::shared_ptr<Content>>(std::move(opened), asker));
    }
  }
}

void TableHolder::note_unread() const {
  for (const auto& [column, reason] : loaded_->unread())
    generation_->context.errors.add(loaded_->path() + "/" + column, reason);
}

void TableHolder::xattrs(HeldItem held, Reply<Xattrs> reply) const {
  if (held.shown_as != ShownAs::itself) return reply(Xattrs{});
  if (held.index == 0) return reply(key_xattrs(listing_->keys[key_]));
  if (!node(held).column) return reply(node_xattrs(node(held)));
  const std::stop_token asker = reply.asker();
  auto told = [self = std::static_pointer_cast<const TableHolder>(shared_from_this()), held,
               reply = std::move(reply)](Result<LoadedTable::Settled> settled) mutable {
    if (!settled) settled = LoadedTable::Settled{self->loaded_, held.index};
    self->column_xattrs_of(held, *std::move(settled), std::move(reply));
  };
  loaded_->settled(held.index, Reply<LoadedTable::Settled>(std::move(told), asker));
}

// The other attributes need no length, and the attributes of a column that cannot be read are of most interest.
void TableHolder::column_xattrs_of(HeldItem held, LoadedTable::Settled settled, Reply<Xattrs> reply) const {
  const std::stop_token asker = reply.asker();
  auto told = [settled = std::move(settled), reply = std::move(reply)](Result<std::int64_t> length) mutable {
    const Node& node = settled.table().nodes[settled.node];
    reply(column_xattrs(node, settled.table().columns[*node.column],
                        length ? std::optional<std::int64_t>(*length) : std::nullopt));
  };
  loaded_->length(*node(held).column, Reply<std::int64_t>(std::move(told), asker));
}

}  // namespace tfilefs
