// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tfile/file.h"
#include "tfile/table.h"
#include "vfs/keys/object_directory.h"
#include "vfs/nodes/column_vnodes.h"
#include "vfs/nodes/directory.h"
#include "vfs/nodes/loaded_table.h"
#include "vfs/nodes/object_files.h"

namespace tfilefs {

// The nodes of a table, or of an object's arrays, under one of its keys.
class TableVnodes final : public ColumnVnodes {
 public:
  // `object`: null for a table; else its arrays are the table's nodes. `is_made`: the table is made of the one under
  // the key, and cannot be changed. `friends`: of the one that entries were chosen of.
  TableVnodes(std::shared_ptr<const Generation>, std::shared_ptr<const LoadedTable>,
              std::shared_ptr<const tfile::DirectoryListing>, std::uint32_t key,
              std::shared_ptr<const ObjectFiles> object, bool is_made = false,
              std::shared_ptr<const ShownFriends> friends = nullptr);

  bool is_remote() const override;
  std::shared_ptr<const ShownFriends> friends() const override;
  std::shared_ptr<const ShownFriends> friends_in_expressions() const override;
  void find_alias(const tfile::TableAlias&, std::string_view name, Reply<FoundEntry>) const override;
  void find_chosen(const std::string& expression, ViewKind, Reply<FoundEntry>) const override;
  // Also the files of the key itself, or of the part of its object at that node.
  std::vector<ObjectFiles::Name> own_files(tfile::NodeId) const override;
  std::optional<ViewKind> find_own_file(tfile::NodeId, std::string_view name) const override;

  const std::shared_ptr<const Generation>& generation() const override { return generation_; }
  void admit(VnodeId, Access, const CallerPtr&, Reply<void>) const override;
  bool is_same_for_all(VnodeId) const override { return table().siblings.empty() && !loaded().uses_friends(); }
  std::optional<Attributes> known_attributes(VnodeId) const override;
  std::optional<Attributes> attributes_but_size(VnodeId) const override;
  void attributes(VnodeId, Reply<Attributes>) const override;
  void enter(VnodeId, Freshness, Reply<std::shared_ptr<const Directory>>) const override;
  void open(VnodeId, Reply<OpenedContent>) const override;
  WriteCapability accepts(VnodeId) const override;
  bool goes_with_key(VnodeId) const override;
  std::optional<std::string> fixed_table_path(VnodeId) const override;

 private:
  bool is_as_a_whole() const;
  OpenedContent opened(std::shared_ptr<Content>) const override;
  void view(VnodeId, Reply<std::shared_ptr<Content>>) const override;
  void view_size(VnodeId, Reply<std::uint64_t>) const override;
  std::shared_ptr<const ColumnVnodes> below(std::shared_ptr<const LoadedTable>) const override;
  Xattrs table_xattrs() const override;
  void enter_attributes(Reply<std::shared_ptr<const Directory>>) const;

  const std::shared_ptr<const Generation> generation_;
  const std::shared_ptr<const tfile::DirectoryListing> listing_;
  const std::uint32_t key_;
  const ObjectBytes bytes_;
  const std::shared_ptr<const ObjectFiles> object_;
  const bool is_made_;
  const std::shared_ptr<const ShownFriends> friends_before_;
};

// A table's own directory: its nodes, each also found by its name without the type and by ROOT's branch name; hidden
// are the views of each node and .schema.json. A table that cannot be read shows its object.bin instead.
std::shared_ptr<const Directory> make_table_directory(std::shared_ptr<const Generation>,
                                                      std::shared_ptr<const LoadedTable>,
                                                      std::shared_ptr<const tfile::DirectoryListing>,
                                                      std::uint32_t key);

// A file beside the table. Errors: unsupported (with ENOENT: a table that cannot be read has none).
Result<Entry> make_table_view(std::shared_ptr<const Generation>, std::shared_ptr<const LoadedTable>,
                              std::shared_ptr<const tfile::DirectoryListing>, std::uint32_t key, ViewKind);

// An object's directory: the nodes of its arrays as those of a table, object.bin and object.json; hidden are the other
// files made of it.
std::shared_ptr<const Directory> make_array_directory(std::shared_ptr<const Generation>,
                                                      std::shared_ptr<const ObjectFiles>,
                                                      std::shared_ptr<const tfile::DirectoryListing>,
                                                      std::uint32_t key);

}  // namespace tfilefs
