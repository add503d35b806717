// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "once.h"
#include "tfile/file.h"
#include "vfs/nodes/directory.h"
#include "vfs/nodes/table_views.h"

namespace tfilefs {

class LoadedTable;

// The keys of one directory of a ROOT file, by their number in its listing, and (in the root) the files about the whole
// file. Each key is a directory: of keys, of a table's nodes, or of an object's files.
class KeyVnodes final : public Vnodes {
 public:
  KeyVnodes(std::shared_ptr<const Generation>, std::shared_ptr<const tfile::DirectoryListing>, std::string path,
            std::vector<std::uint64_t> ancestors, bool of_fixed_table);

  // Sets the names that KeyDirectory gave, for messages about things below a key.
  void set_names(std::vector<std::string> names) { names_ = std::move(names); }
  const std::vector<std::string>& names() const { return names_; }

  const tfile::DirectoryListing& listing() const { return *listing_; }
  bool is_root() const { return ancestors_.empty(); }

  const std::shared_ptr<const Generation>& generation() const override { return generation_; }

  // The older cycles of a key, which have no bare name and go when it is removed. In file order.
  std::vector<std::uint16_t> older_cycles(std::uint32_t key) const;

  // A file made of the whole table under a key. Error: unsupported (with ENOENT: the key has none).
  void find_table_view(std::uint32_t key, ViewKind, Reply<FoundEntry>) const;

  // A file in the directory of the object under a key. Error: not_found.
  void find_in_object(std::uint32_t key, std::string_view name, Reply<FoundEntry>) const;

  // The files that the table under a key has, by the ends of their names; none if the table cannot be read now.
  void views_beside(std::uint32_t key, Reply<std::vector<TableView>>) const;

  void attributes(VnodeId, Reply<Attributes>) const override;
  std::optional<Attributes> known_attributes(VnodeId) const override;
  std::optional<Attributes> attributes_but_size(VnodeId) const override;
  void enter(VnodeId, Freshness, Reply<std::shared_ptr<const Directory>>) const override;
  void open(VnodeId, Reply<OpenedContent>) const override;
  void xattrs(VnodeId, Reply<Xattrs>) const override;
  void more_xattrs(VnodeId, Reply<Xattrs>) const override;
  WriteCapability accepts(VnodeId) const override;
  std::optional<std::string> fixed_table_path(VnodeId) const override;

 private:
  std::string path_of(std::uint32_t key) const;
  std::string heading() const;  // of the page of plots
  void enter_directory(std::uint32_t key, Reply<std::shared_ptr<const Directory>>) const;
  void load_table(std::uint32_t key, Reply<std::shared_ptr<const LoadedTable>>) const;
  void enter_object(std::uint32_t key, Reply<std::shared_ptr<const Directory>>) const;
  void enter_table(std::uint32_t key, Reply<std::shared_ptr<const Directory>>) const;
  void content(ViewKind, Reply<std::shared_ptr<Content>>) const;

  const std::shared_ptr<const Generation> generation_;
  const std::shared_ptr<const tfile::DirectoryListing> listing_;
  const std::string path_;
  const std::vector<std::uint64_t> ancestors_;
  const bool of_fixed_table_;
  mutable Once<std::shared_ptr<Content>> plot_index_, key_list_;
  std::vector<std::string> names_;  // of keys that have one, by key; set before the object is shared
};

// The attributes that a key's files inherit: the file's, with the key's own date.
Provenance key_provenance(const Generation&, const tfile::KeyInfo&);
Xattrs key_xattrs(const tfile::KeyInfo&);

}  // namespace tfilefs
