// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tfile/table.h"
#include "vfs/nodes/directory.h"
#include "vfs/nodes/loaded_table.h"
#include "vfs/nodes/object_files.h"

namespace tfilefs {

struct MountContext;
class ShownFriends;

// The nodes of a table, by node number, and the files made of them. Where the table comes from is known to what derives
// from this: a key of a file (TableVnodes), or other files (make_live_table()).
class ColumnVnodes : public Vnodes {
 public:
  // `from`: what its files inherit.
  ColumnVnodes(MountContext& context, std::shared_ptr<const LoadedTable> loaded, const Provenance& from)
      : context_(context), loaded_(std::move(loaded)), from_(from) {}

  const tfile::Table& table() const { return loaded_->table(); }
  const LoadedTable& loaded() const { return *loaded_; }
  MountContext& context() const { return context_; }
  const Provenance& provenance() const { return from_; }

  // A table that has only its reason and its bytes to show.
  bool is_opaque() const { return !table().reason.empty() && table().columns.empty(); }
  // Whether its storage is asked for many things at once.
  virtual bool is_remote() const = 0;

  // The friends of the table; null: none.
  virtual std::shared_ptr<const ShownFriends> friends() const { return nullptr; }
  // Those that expressions may name: of the table before entries were chosen of it.
  virtual std::shared_ptr<const ShownFriends> friends_in_expressions() const { return friends(); }

  // The entries that an expression chooses, as a table, or a file that is made of it. Errors: those of
  // LoadedTable::chosen().
  virtual void find_chosen(const std::string& expression, ViewKind, Reply<FoundEntry>) const = 0;

  // The column that an alias of the table stands for, or a view of it, by its name.
  virtual void find_alias(const tfile::TableAlias&, std::string_view, Reply<FoundEntry> reply) const {
    reply(no_such_entry());
  }

  // The files beside the nodes below a node.
  virtual std::vector<ObjectFiles::Name> own_files(tfile::NodeId) const;
  virtual std::optional<ViewKind> find_own_file(tfile::NodeId, std::string_view name) const;

  std::optional<Attributes> known_attributes(VnodeId) const override;
  std::optional<Attributes> attributes_but_size(VnodeId) const override;
  void attributes(VnodeId, Reply<Attributes>) const override;
  void enter(VnodeId, Freshness, Reply<std::shared_ptr<const Directory>>) const override;
  void open(VnodeId, Reply<OpenedContent>) const override;
  void xattrs(VnodeId, Reply<Xattrs>) const override;
  void more_xattrs(VnodeId, Reply<Xattrs>) const override;

 protected:
  const tfile::Node& node(VnodeId vnode) const { return table().nodes[vnode.index]; }
  const std::shared_ptr<const LoadedTable>& loaded_table() const { return loaded_; }
  const Provenance& from() const { return from_; }
  std::shared_ptr<const ColumnVnodes> self() const {
    return std::static_pointer_cast<const ColumnVnodes>(shared_from_this());
  }

  // A file that was made, as it is opened.
  virtual OpenedContent opened(std::shared_ptr<Content>) const = 0;
  virtual void view(VnodeId, Reply<std::shared_ptr<Content>>) const;
  virtual void view_size(VnodeId, Reply<std::uint64_t>) const;
  // The same nodes below, of a branch that was resolved.
  virtual std::shared_ptr<const ColumnVnodes> below(std::shared_ptr<const LoadedTable>) const = 0;
  // The attributes of the table itself.
  virtual Xattrs table_xattrs() const = 0;
  // The attributes of a file that is made.
  Attributes view_attributes(std::uint64_t size) const;

 private:
  Attributes column_attributes(VnodeId, std::int64_t length) const;
  void note_unread() const;
  void column_xattrs_of(VnodeId, LoadedTable::Settled, Reply<Xattrs>) const;

  MountContext& context_;
  const std::shared_ptr<const LoadedTable> loaded_;
  const Provenance from_;
};

}  // namespace tfilefs
