// SPDX-License-Identifier: Apache-2.0
#include "repack/taken_nodes.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "tfile/name.h"
#include "tfile/variant_type.h"
#include "view/table_form.h"

namespace tfilefs {

using tfile::Node;
using tfile::NodeId;
using tfile::NodeKind;
using tfile::TableFormat;

namespace {

std::string_view names_taken_by(TableFormat format) {
  return format == TableFormat::rntuple
             ? "an RNTuple allows no '.', '/', '\\', space, bracket or control character in a field's name"
             : "a tree allows no bracket in a name, and no '.' at its end or in that of a member";
}

class Taking {
 public:
  Taking(const ShownNodes& nodes, TableFormat format, const ReasonAgainst& reason_against);
  TakenNodes run(const std::vector<NodeId>& tops);

 private:
  // The place of a node: paths, of directories with a slash behind.
  struct Place {
    std::string shown, path;
    bool must_be_whole = false;  // all of a record: the pair of a map, and what a variant names with its type
  };

  std::vector<NodeId> shown(std::vector<NodeId> nodes) const;

  // Returns why the node cannot be taken, "" if it is. Then what was made of it is taken back.
  std::string take(NodeId id, const Place& place);
  std::string take_column(tfile::ColumnId id, const std::string& path);

  // Each on its own. If none of a record can be taken, that is a reason against the record.
  std::string take_members(const std::vector<NodeId>& members, const Place& around, bool is_record);

  // A name in the new table, as paths have it, with its type; and, if it is another one, ROOT's own, and why.
  struct NewName {
    std::string name;
    std::string original = {};
    std::string_view why = {};
  };
  // Siblings keep their names, unless the format does not take them, or one before has the same.
  std::vector<NewName> names_of(const std::vector<NodeId>& siblings, bool are_members) const;
  std::string original_name(NodeId id) const;

  // How much was made.
  struct Extent {
    std::size_t columns, variants, left_out, renamed;
  };
  Extent extent() const;
  void take_back(const Extent& before);

  const tfile::Table& table_;
  const std::vector<NodeId>& hidden_;
  const TableFormat format_;
  const ReasonAgainst& reason_against_;
  TakenNodes made_;
};

Taking::Taking(const ShownNodes& nodes, TableFormat format, const ReasonAgainst& reason_against)
    : table_(nodes.table), hidden_(nodes.hidden), format_(format), reason_against_(reason_against) {}

TakenNodes Taking::run(const std::vector<NodeId>& tops) {
  take_members(shown(tops), {}, false);
  return std::move(made_);
}

std::vector<NodeId> Taking::shown(std::vector<NodeId> nodes) const {
  std::erase_if(nodes, [this](NodeId id) { return std::ranges::binary_search(hidden_, id); });
  return nodes;
}

std::string Taking::take(NodeId id, const Place& place) {
  const Node& node = table_.nodes[id];
  if (node.column) return take_column(*node.column, place.path);
  const std::vector<NodeId> children = shown(node.children);
  Place below{place.shown + "/", place.path + "/", place.must_be_whole};
  // It is made of what is in it: without a column, nothing says that it was there.
  if (node.kind == NodeKind::record && children.empty()) return "a record without members cannot be written";
  if (node.kind == NodeKind::record) return take_members(children, below, true);
  if (node.kind == NodeKind::map || node.kind == NodeKind::variant) below.must_be_whole = true;
  if (node.kind == NodeKind::variant) made_.variants.emplace_back(place.path, tfile::variant_type(node.alternatives));
  for (const NodeId child : children) {
    const std::string& name = table_.nodes[child].name;
    std::string reason = take(child, {below.shown + stem_of(table_, child), below.path + name, below.must_be_whole});
    if (!reason.empty()) return reason;
  }
  return "";
}

std::string Taking::take_column(tfile::ColumnId id, const std::string& path) {
  std::string reason = reason_against_(table_.columns[id]);
  if (reason.empty()) {
    if (const auto offered = tfile::offered_column(path); !offered) reason = offered.error().text;
  }
  if (reason.empty()) made_.columns.push_back({id, path});
  return reason;
}

std::string Taking::take_members(const std::vector<NodeId>& members, const Place& around, bool is_record) {
  const std::vector<NewName> names = names_of(members, is_record);
  const std::size_t left_before = made_.left_out.size();
  std::string first;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string shown = around.shown + stem_of(table_, members[i]);
    const Extent before = extent();
    const std::string reason = take(members[i], {shown, around.path + names[i].name, around.must_be_whole});
    if (reason.empty()) {
      if (!names[i].why.empty())
        made_.renamed.push_back(shown + ": now " + names[i].original + ": " + std::string(names[i].why));
      continue;
    }
    take_back(before);
    if (around.must_be_whole) return reason;
    if (first.empty()) first = reason;
    made_.left_out.push_back(reason.starts_with(shown) ? reason : shown + ": " + reason);
  }
  const bool has_some = made_.left_out.size() < left_before + members.size();
  if (!is_record || has_some) return "";
  made_.left_out.resize(left_before);
  return first;
}

std::vector<Taking::NewName> Taking::names_of(const std::vector<NodeId>& siblings, bool are_members) const {
  std::vector<NewName> names(siblings.size());
  std::set<std::string> used;
  for (std::size_t i = 0; i < siblings.size(); ++i) {
    const std::string name = original_name(siblings[i]);
    if (tfile::nearest_name(name, format_, are_members) != name) {
      names[i].why = names_taken_by(format_);
    } else if (!used.insert(name).second) {
      names[i].why = "an earlier one has its name";
    } else {
      names[i].name = table_.nodes[siblings[i]].name;
    }
  }
  for (std::size_t i = 0; i < siblings.size(); ++i) {
    if (names[i].why.empty()) continue;
    const std::string suffix = table_.nodes[siblings[i]].name.substr(stem_of(table_, siblings[i]).size());
    const std::string base = tfile::nearest_name(original_name(siblings[i]), format_, are_members);
    std::string name = base;
    for (int number = 2; !used.insert(name).second; ++number) name = base + "_" + std::to_string(number);
    names[i].original = name;
    names[i].name = tfile::escape_name(name, tfile::kNameMax - std::min(tfile::kNameMax, suffix.size())) + suffix;
  }
  return names;
}

std::string Taking::original_name(NodeId id) const {
  const Node& node = table_.nodes[id];
  return node.original_name.empty() ? tfile::unescape_name(stem_of(table_, id)) : node.original_name;
}

Taking::Extent Taking::extent() const {
  return {made_.columns.size(), made_.variants.size(), made_.left_out.size(), made_.renamed.size()};
}

void Taking::take_back(const Extent& before) {
  made_.columns.resize(before.columns);
  made_.variants.resize(before.variants);
  made_.left_out.resize(before.left_out);
  made_.renamed.resize(before.renamed);
}

}  // namespace

std::string stem_of(const tfile::Table& table, NodeId id) {
  return std::string(bare_name(table.columns, table.nodes[id]));
}

TakenNodes take_nodes(const ShownNodes& nodes, const std::vector<NodeId>& tops, TableFormat format,
                      const ReasonAgainst& reason_against) {
  return Taking(nodes, format, reason_against).run(tops);
}

}  // namespace tfilefs
