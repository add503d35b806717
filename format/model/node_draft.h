// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/member_names.h"
#include "tfile/name.h"
#include "tfile/node.h"

namespace tfile {

// A node whose name is not yet unique among its siblings and whose path is not yet known. Code that makes nodes may use
// a type of its own that has these members and more.
struct NodeDraft {
  std::string name;         // ROOT's name, or "values", "offsets", ...
  std::string branch_name;  // ROOT's full branch name; empty if there is none
  NodeKind kind = NodeKind::record;
  std::vector<std::string> alternatives;
  std::uint32_t tag = 0;
  DateKind date = DateKind::none;
  std::optional<ColumnId> column;
  std::vector<NodeDraft> children;
};

// Makes the names of siblings into directory entries. `are_members`: of a record.
struct SiblingNames {
  std::vector<std::string_view> names;
  std::vector<std::string> suffixes;
  std::vector<std::string> unique;
};
template <class Draft>
SiblingNames sibling_names(const std::vector<Draft>& siblings, const std::vector<Column>& columns, bool are_members) {
  SiblingNames made;
  for (const Draft& draft : siblings) {
    made.names.push_back(draft.name);
    made.suffixes.push_back(draft.column ? typed_suffix(columns[*draft.column].dtype, columns[*draft.column].shape)
                                         : std::string());
  }
  made.unique = directory_names(made.names, made.suffixes);
  const std::vector<bool> escaped = escaped_members(made.names, made.suffixes);
  for (std::size_t i = 0; i < siblings.size(); ++i) {
    const std::string_view name = made.names[i], suffix = made.suffixes[i];
    if (made.unique[i].size() != name.size() + suffix.size()) continue;  // it is another name already
    // The table itself would be a list with offsets among its columns.
    const bool is_offsets = name == "offsets" && suffix == ".i8" && columns[*siblings[i].column].role != Role::offsets;
    if (is_offsets || (are_members && escaped[i]))
      made.unique[i] = member_component(name, suffix) + std::string(suffix);
  }
  return made;
}

// How many nodes are below it.
template <class Draft>
std::size_t node_count(const Draft& draft) {
  std::size_t count = draft.children.size();
  for (const Draft& child : draft.children) count += node_count(child);
  return count;
}

// Appends the nodes below `draft`, which is node `id` at `path`, each after its parent, and gives their columns names
// and paths. Calls `placed(draft, node, path)` for each. Drafts of wide tables take as much memory as their nodes: each
// loses its children once they are placed.
template <class Draft, class Placed>
void place_nodes(Draft& draft, NodeId id, const std::string& path, std::vector<Node>& nodes,
                 std::vector<Column>& columns, const Placed& placed) {
  const bool are_members = draft.kind == NodeKind::record && !path.empty();
  const SiblingNames names = sibling_names(draft.children, columns, are_members);
  for (std::size_t i = 0; i < draft.children.size(); ++i) {
    Draft& child = draft.children[i];
    const std::string& name = names.unique[i];
    const auto child_id = static_cast<NodeId>(nodes.size());
    nodes[id].children.push_back(child_id);
    Node& node = nodes.emplace_back();
    node.kind = child.kind;
    node.name = name;
    node.column = child.column;
    node.alternatives = child.alternatives;
    node.tag = child.tag;
    node.date = child.date;
    if (child.name + names.suffixes[i] != name) node.original_name = child.name;
    if (child.branch_name != name) node.branch_name = child.branch_name;
    const std::string child_path = path.empty() ? name : path + "/" + name;
    if (child.column) {
      columns[*child.column].name = name;
      columns[*child.column].path = child_path;
    }
    placed(child, child_id, child_path);
    place_nodes(child, child_id, child_path, nodes, columns, placed);
  }
  draft.children = {};
}

}  // namespace tfile
