// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/node_directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>

#include "tfile/name.h"
#include "vfs/names/name_index.h"
#include "vfs/names/names.h"
#include "vfs/nodes/expression_entries.h"
#include "vfs/nodes/generation.h"
#include "vfs/nodes/shown_friends.h"
#include "vfs/nodes/table_views.h"

namespace tfilefs {
namespace {

using tfile::Node;
using tfile::NodeId;
using Where = TableView::Where;

// Another name under which a child is found. Its text is part of the child's node; names that had to be escaped are
// stored separately, since there may be as many as columns.
struct Alias {
  enum class Kind : std::uint8_t { stem, branch_name, original_name, escaped };
  std::uint32_t child;  // of escaped: its place among those names
  Kind kind;
  std::uint16_t stem_size = 0;  // of the child's own name, without its type
};

class NodeDirectory final : public Directory {
 public:
  NodeDirectory(std::shared_ptr<const ColumnVnodes> table, NodeId node);
  ~NodeDirectory() override { table_->context().directories_memory -= memory(); }

  const std::shared_ptr<const Generation>& generation() const override { return table_->generation(); }
  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    if (const auto vnode = find_vnode(name)) return reply(FoundEntry{{table_, *vnode}, own_name(*vnode)});
    if (node_ == 0 && !table_->is_opaque() && is_of_expression(name))
      return find_of_expression(table_, name, std::move(reply));
    if (const tfile::TableAlias* const alias = node_ == 0 ? alias_of(name) : nullptr)
      return table_->find_alias(*alias, name, std::move(reply));
    const auto friends = node_ == 0 ? table_->friends() : nullptr;
    if (!friends) return reply(no_such_entry());
    friends->find_column(table_->context(), name, std::move(reply));
  }
  void list(Reply<std::shared_ptr<const Listing>>) const override;
  std::optional<std::string> fixed_table_path() const override { return table_->fixed_table_path({node_}); }

 private:
  friend class NodeListing;
  const Node& self() const { return table_->table().nodes[node_]; }
  const Node& child(std::size_t i) const { return table_->table().nodes[self().children[i]]; }
  auto child_name() const {
    return [this](std::uint32_t i) -> std::string_view { return child(i).name; };
  }
  auto alias_name() const {
    return [this](std::uint32_t i) { return name_of(aliases_[i]); };
  }
  struct EscapedName {
    std::uint32_t child;
    std::string name;
  };
  std::string_view name_of(const Alias&) const;
  std::uint32_t child_of(const Alias& alias) const {
    return alias.kind == Alias::Kind::escaped ? escaped_[alias.child].child : alias.child;
  }
  void add_alias(Alias);
  void add_unescaped(std::uint32_t i);
  std::uint64_t memory() const {
    return sizeof *this + children_.memory() + alias_index_.memory() + aliases_.capacity() * sizeof(Alias) +
           escaped_.capacity() * sizeof(EscapedName);
  }
  std::optional<NodeId> find_node(std::string_view name) const;
  std::optional<VnodeId> find_view(std::string_view name) const;
  std::optional<VnodeId> find_vnode(std::string_view name) const;
  std::string own_name(VnodeId) const;
  const tfile::TableAlias* alias_of(std::string_view name) const;

  const std::shared_ptr<const ColumnVnodes> table_;
  const NodeId node_;
  NameIndex children_;
  std::vector<Alias> aliases_;
  std::vector<EscapedName> escaped_;
  NameIndex alias_index_;
};

NodeDirectory::NodeDirectory(std::shared_ptr<const ColumnVnodes> table, NodeId node)
    : table_(std::move(table)), node_(node), children_(self().children.size()) {
  const std::size_t count = self().children.size();
  for (std::uint32_t i = 0; i < count; ++i) children_.add(i, child_name());
  // Names without type come before branch names, in case a branch has the name of another's column.
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!child(i).column) continue;
    const tfile::Column& column = table_->table().columns[*child(i).column];
    const auto stem = without_suffix(child(i).name, tfile::typed_suffix(column.dtype, column.shape));
    if (stem && stem->size() <= UINT16_MAX) add_alias({i, Alias::Kind::stem, static_cast<std::uint16_t>(stem->size())});
  }
  const std::size_t stems = aliases_.size();
  for (std::uint32_t i = 0, stem = 0; i < count; ++i) {
    while (stem < stems && aliases_[stem].child < i) ++stem;
    const bool has_stem = stem < stems && aliases_[stem].child == i;
    if (!has_stem || child(i).branch_name != name_of(aliases_[stem])) add_alias({i, Alias::Kind::branch_name});
    add_alias({i, Alias::Kind::original_name});
    add_unescaped(i);
  }
  aliases_.shrink_to_fit();
  escaped_.shrink_to_fit();
  alias_index_ = NameIndex(aliases_.size());
  for (std::uint32_t i = 0; i < aliases_.size(); ++i) alias_index_.add(i, alias_name());
  table_->context().directories_memory += memory();
}

std::string_view NodeDirectory::name_of(const Alias& alias) const {
  if (alias.kind == Alias::Kind::escaped) return escaped_[alias.child].name;
  const Node& node = child(alias.child);
  switch (alias.kind) {
    case Alias::Kind::stem:
      return std::string_view(node.name).substr(0, alias.stem_size);
    case Alias::Kind::branch_name:
      return node.branch_name;
    default:
      return node.original_name;
  }
}

// ROOT's own names are escaped in the same way as those of columns.
void NodeDirectory::add_alias(Alias alias) {
  const std::string_view name = name_of(alias);
  if (name.empty() || name == child(alias.child).name) return;
  std::string escaped = alias.kind == Alias::Kind::stem ? std::string(name) : tfile::escape_name(name);
  if (escaped == name) return aliases_.push_back(alias);
  if (escaped == child(alias.child).name) return;
  aliases_.push_back({static_cast<std::uint32_t>(escaped_.size()), Alias::Kind::escaped});
  escaped_.push_back({alias.child, std::move(escaped)});
}

// A member whose first byte is escaped is also found without the escape, as it was shown before such names were
// escaped. A file that is found as `offsets.i8` would make a list of the record.
void NodeDirectory::add_unescaped(std::uint32_t i) {
  const Node& node = child(i);
  if (!node.column || node.original_name.empty() || node.original_name == "offsets") return;
  const tfile::Column& column = table_->table().columns[*node.column];
  const std::string suffix = tfile::typed_suffix(column.dtype, column.shape);
  if (!tfile::is_layout_name(node.original_name, suffix)) return;
  aliases_.push_back({static_cast<std::uint32_t>(escaped_.size()), Alias::Kind::escaped});
  escaped_.push_back({i, node.original_name + suffix});
}

std::optional<NodeId> NodeDirectory::find_node(std::string_view name) const {
  if (const auto i = children_.find(name, child_name())) return self().children[*i];
  if (const auto i = alias_index_.find(name, alias_name())) return self().children[child_of(aliases_[*i])];
  return table_->loaded().find_branch(node_, name);
}

std::optional<VnodeId> NodeDirectory::find_view(std::string_view name) const {
  if (const auto shown_as = table_->find_own_file(node_, name)) return VnodeId{node_, *shown_as};
  const tfile::Table& table = table_->table();
  for (const TableView& view : table_views()) {
    if (view.where == Where::in_node && name == view.name && view.can_be(table, node_))
      return VnodeId{node_, view.shown_as};
    const auto stem = view.where == Where::beside_node ? without_suffix(name, view.name) : std::nullopt;
    const auto node = stem ? find_node(*stem) : std::nullopt;
    if (node && view.can_be(table, *node)) return VnodeId{*node, view.shown_as};
  }
  return std::nullopt;
}

// Names in listings come before views, and views before aliases.
std::optional<VnodeId> NodeDirectory::find_vnode(std::string_view name) const {
  if (const auto i = children_.find(name, child_name())) return VnodeId{self().children[*i]};
  if (const auto view = find_view(name)) return view;
  if (const auto node = find_node(name)) return VnodeId{*node};
  return name == kGuessedSchemaName ? find_vnode(kSchemaName) : std::nullopt;
}

// Behind the name of an alias may be its type, or a view.
const tfile::TableAlias* NodeDirectory::alias_of(std::string_view name) const {
  const tfile::TableAlias* found = nullptr;
  std::size_t longest = 0;  // a dot may belong to the name
  for (const tfile::TableAlias& alias : table_->table().aliases) {
    const std::string begin = tfile::escape_name(alias.name);
    const bool is_named = name.starts_with(begin) && (name.size() == begin.size() || name[begin.size()] == '.');
    if (!is_named || begin.size() <= longest) continue;
    found = &alias;
    longest = begin.size();
  }
  return found;
}

// A node that was found by its branch name, deeper than its own directory, has its own name there.
std::string NodeDirectory::own_name(VnodeId vnode) const {
  const Node& node = table_->table().nodes[vnode.index];
  const auto child = children_.find(node.name, child_name());
  if (!child || self().children[*child] != vnode.index) return "";
  if (vnode.shown_as == ViewKind::itself) return node.name;
  const auto all = table_views();
  const auto view =
      std::find_if(all.begin(), all.end(), [&](const TableView& v) { return v.shown_as == vnode.shown_as; });
  return view != all.end() && view->where == Where::beside_node ? node.name + std::string(view->name) : "";
}

// The files of the node itself, so that a copy begins with what tells what it is; the children; then, if views are
// listed, the views.
class NodeListing final : public Listing {
 public:
  // `settled`: the directory's node, if views are listed.
  NodeListing(std::shared_ptr<const NodeDirectory> directory, const LoadedTable::Settled* settled)
      : directory_(std::move(directory)) {
    const NodeId node = directory_->node_;
    for (const auto& file : directory_->table_->own_files(node)) {
      if (!file.is_view) extra_.push_back({std::string(file.name), {node, file.shown_as}});
    }
    first_ = extra_.size();
    if (!settled) return;
    for (const auto& file : directory_->table_->own_files(node)) {
      if (file.is_view) extra_.push_back({std::string(file.name), {node, file.shown_as}});
    }
    for (const TableView& view : table_views()) {
      if (view.where == Where::in_node && view.is_there(settled->table(), settled->node))
        extra_.push_back({std::string(view.name), {node, view.shown_as}});
    }
    for (const NodeId there : settled->table().nodes[settled->node].children) add_views(settled->table(), there);
  }

  std::size_t size() const override { return directory_->self().children.size() + extra_.size(); }

  void item(std::size_t i, Item& into) const override {
    if (into.entry.vnodes != directory_->table_) into.entry.vnodes = directory_->table_;
    const std::size_t children = directory_->self().children.size();
    if (i >= first_ && i < first_ + children) {
      const Node& child = directory_->child(i - first_);
      into.name = child.name;
      into.type = child.column ? S_IFREG : S_IFDIR;
      into.entry.vnode = {directory_->self().children[i - first_]};
      return;
    }
    const Extra& extra = extra_[i < first_ ? i : i - children];
    into.name = extra.name;
    into.type = S_IFREG;
    into.entry.vnode = extra.vnode;
  }

 private:
  struct Extra {
    std::string name;
    VnodeId vnode;
  };
  // `there`: the number of the child in the settled table.
  void add_views(const tfile::Table& settled, NodeId there) {
    const std::string& child = settled.nodes[there].name;
    const auto i = directory_->children_.find(child, directory_->child_name());
    if (!i) return;
    for (const TableView& view : table_views()) {
      if (view.where != Where::beside_node || !view.is_there(settled, there)) continue;
      std::string name = child + std::string(view.name);
      if (!directory_->children_.find(name, directory_->child_name()))
        extra_.push_back({std::move(name), {directory_->self().children[*i], view.shown_as}});
    }
  }
  const std::shared_ptr<const NodeDirectory> directory_;
  std::vector<Extra> extra_;
  std::size_t first_ = 0;  // so many of them come before the children
};

void NodeDirectory::list(Reply<std::shared_ptr<const Listing>> reply) const {
  if (table_->is_remote()) table_->loaded().expect_looks();
  auto self = std::static_pointer_cast<const NodeDirectory>(shared_from_this());
  if (!table_->context().views_listed) return reply(std::make_shared<const NodeListing>(std::move(self), nullptr));
  auto show = [self](Result<LoadedTable::Settled> settled, Reply<std::shared_ptr<const Listing>> done) {
    // If a branch cannot be read now, the views that its name allows are listed.
    if (!settled) settled = LoadedTable::Settled{self->table_->loaded().shared_from_this(), self->node_};
    done(std::make_shared<const NodeListing>(self, &*settled));
  };
  table_->loaded().settled(node_, on_behalf_of<LoadedTable::Settled>(std::move(reply), std::move(show)));
}

}  // namespace

std::shared_ptr<const Directory> make_node_directory(std::shared_ptr<const ColumnVnodes> table, NodeId node) {
  return std::make_shared<const NodeDirectory>(std::move(table), node);
}

}  // namespace tfilefs
