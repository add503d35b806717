// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tfile/file.h"
#include "tfile/table.h"
#include "vfs/directory.h"
#include "vfs/loaded_table.h"
#include "vfs/object_directory.h"
#include "vfs/object_files.h"

namespace tfilefs {

// The nodes of a table, or of an object's arrays, under one of its keys, by node number, and the files made of them.
class TableHolder final : public Holder {
 public:
  // `object`: null for a table; else its arrays are the table's nodes.
  TableHolder(std::shared_ptr<const Generation>, std::shared_ptr<const LoadedTable>,
              std::shared_ptr<const tfile::DirectoryListing>, std::uint32_t key,
              std::shared_ptr<const ObjectFiles> object);

  const tfile::Table& table() const { return loaded_->table(); }
  const LoadedTable& loaded() const { return *loaded_; }

  // A table that has only its reason and its bytes to show.
  bool is_as_a_whole() const;
  bool is_opaque() const { return !table().reason.empty() && table().columns.empty(); }

  // The files of the key itself, or of the part of its object at that node, beside the nodes below it.
  std::vector<ObjectFiles::Name> own_files(tfile::NodeId) const;
  std::optional<ShownAs> find_own_file(tfile::NodeId, std::string_view name) const;

  const std::shared_ptr<const Generation>& generation() const override { return generation_; }
  void admit(HeldItem, Access, const CallerPtr&, Reply<void>) const override;
  bool is_same_for_all(HeldItem) const override { return table().siblings.empty(); }
  std::optional<Attributes> known_attributes(HeldItem) const override;
  std::optional<Attributes> attributes_but_size(HeldItem) const override;
  void attributes(HeldItem, Reply<Attributes>) const override;
  void enter(HeldItem, Freshness, Reply<std::shared_ptr<const Directory>>) const override;
  void open(HeldItem, Reply<OpenedContent>) const override;
  void xattrs(HeldItem, Reply<Xattrs>) const override;
  Accepts accepts(HeldItem) const override;
  bool goes_with_key(HeldItem) const override;
  std::optional<std::string> fixed_table_path(HeldItem) const override;

 private:
  const tfile::Node& node(HeldItem held) const { return table().nodes[held.index]; }
  Attributes column_attributes(HeldItem, std::int64_t length) const;
  Attributes view_attributes(std::uint64_t size) const;
  void view(HeldItem, Reply<std::shared_ptr<Content>>) const;
  void enter_attributes(Reply<std::shared_ptr<const Directory>>) const;
  void note_unread() const;
  void column_xattrs_of(HeldItem, LoadedTable::Settled, Reply<Xattrs>) const;

  const std::shared_ptr<const Generation> generation_;
  const std::shared_ptr<const LoadedTable> loaded_;
  const std::shared_ptr<const tfile::DirectoryListing> listing_;
  const std::uint32_t key_;
  const Provenance from_;
  const ObjectBytes bytes_;
  const std::shared_ptr<const ObjectFiles> object_;
};

}  // namespace tfilefs
