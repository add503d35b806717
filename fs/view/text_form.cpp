// SPDX-License-Identifier: Apache-2.0
#include "view/text_form.h"

#include <optional>

namespace tfilefs {
namespace {

using tfile::Column;
using tfile::ErrorKind;
using tfile::Node;
using tfile::NodeId;
using tfile::Result;
using tfile::Role;

constexpr int kDepthMax = 64;  // deeper than any node tree that the library builds

class Builder {
 public:
  explicit Builder(const tfile::Table& table) : table_(table) {}

  Result<std::uint32_t> add(NodeId id, bool inner, int depth) {
    if (depth > kDepthMax) return tfile::fail(ErrorKind::unsupported, "nodes are nested too deeply for text");
    const Node& node = table_.nodes[id];
    const auto position = static_cast<std::uint32_t>(forms_.size());
    forms_.emplace_back().inner = inner;
    if (node.column) {
      forms_[position].values = *node.column;
      return position;
    }
    const auto ends = child_with(node, Role::offsets);
    if (!ends) return add_record(node, position, inner, depth);
    forms_[position].ends = *table_.nodes[*ends].column;
    if (const auto chars = child_with(node, Role::chars)) return add_bytes(position, TextForm::Kind::string, *chars);
    if (const auto raw = child_with(node, Role::raw)) return add_bytes(position, TextForm::Kind::bytes, *raw);
    forms_[position].kind = TextForm::Kind::list;
    for (const NodeId child : node.children) {
      if (child == *ends) continue;
      TRY(const std::uint32_t item, add(child, true, depth + 1));
      forms_[position].fields.push_back(item);
      return position;
    }
    return tfile::fail(ErrorKind::unsupported, "a list without values");
  }

  std::vector<TextForm> take() { return std::move(forms_); }

 private:
  std::optional<NodeId> child_with(const Node& node, Role role) const {
    for (const NodeId child : node.children)
      if (const auto column = table_.nodes[child].column; column && table_.columns[*column].role == role) return child;
    return std::nullopt;
  }

  std::uint32_t add_bytes(std::uint32_t position, TextForm::Kind kind, NodeId bytes) {
    forms_[position].kind = kind;
    forms_[position].values = *table_.nodes[bytes].column;
    return position;
  }

  Result<std::uint32_t> add_record(const Node& node, std::uint32_t position, bool inner, int depth) {
    forms_[position].kind = TextForm::Kind::record;
    if (node.children.empty()) return tfile::fail(ErrorKind::unsupported, "a node with nothing in it");
    for (const NodeId child : node.children) {
      TRY(const std::uint32_t field, add(child, inner, depth + 1));
      forms_[position].fields.push_back(field);
    }
    return position;
  }

  const tfile::Table& table_;
  std::vector<TextForm> forms_;
};

}  // namespace

Result<std::vector<TextForm>> text_forms(const tfile::Table& table, NodeId node) {
  Builder builder(table);
  TRY_VOID(builder.add(node, false, 0));
  return builder.take();
}

}  // namespace tfilefs
