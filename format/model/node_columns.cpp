// SPDX-License-Identifier: Apache-2.0
#include "tfile/node_columns.h"

#include <algorithm>

namespace tfile {
namespace {

class ColumnWalk {
 public:
  ColumnWalk(std::span<const Node> nodes, std::span<const Column> columns) : nodes_(nodes), columns_(columns) {}

  std::optional<NodeColumns> run(NodeId top) {
    add(top, FieldForm::kEachEntry, 0);
    drop_idle_parts(found_.variants);
    return is_countable_ ? std::optional(std::move(found_)) : std::nullopt;
  }

 private:
  // `list`, `tag`: what contains its items. The depth of nodes was bounded when the table was read.
  void add(NodeId id, std::uint32_t list, std::uint8_t tag) {
    const Node& node = nodes_[id];
    const auto first = static_cast<std::uint32_t>(found_.columns.size());
    const bool is_list = has_offsets(node);
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const auto alternative = static_cast<std::uint8_t>(nodes_[node.children[i]].tag);
      const bool is_inside = (is_list && i > 0) || alternative != 0;
      add(node.children[i], is_inside ? first : list, is_inside ? alternative : tag);
    }
    if (node.column) {
      found_.columns.push_back(*node.column);
      found_.lists.push_back(list);
      found_.variants.push_back({tag, 0});
    }
    if (node.kind == NodeKind::variant) note_alternatives(first, node.alternatives.size());
  }

  bool has_offsets(const Node& node) const {
    const auto leading = node.children.empty() ? std::nullopt : nodes_[node.children[0]].column;
    return leading && columns_[*leading].role == Role::offsets;
  }

  void note_alternatives(std::uint32_t tags, std::size_t alternatives) {
    if (alternatives > UINT8_MAX || tags >= found_.variants.size()) {
      is_countable_ = false;
    } else {
      found_.variants[tags].alternatives = static_cast<std::uint8_t>(alternatives);
    }
  }

  const std::span<const Node> nodes_;
  const std::span<const Column> columns_;
  NodeColumns found_;
  bool is_countable_ = true;
};

}  // namespace

std::optional<NodeColumns> node_columns(std::span<const Node> nodes, std::span<const Column> columns, NodeId top) {
  return ColumnWalk(nodes, columns).run(top);
}

void drop_idle_parts(std::vector<VariantPart>& parts) {
  const auto is_part = [](const VariantPart& part) { return part.tag != 0 || part.alternatives != 0; };
  if (std::ranges::none_of(parts, is_part)) parts.clear();
}

}  // namespace tfile
