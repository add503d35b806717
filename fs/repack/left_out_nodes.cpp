// SPDX-License-Identifier: Apache-2.0
#include "repack/left_out_nodes.h"

#include <algorithm>
#include <tuple>

namespace tfilefs {
namespace {

using tfile::Column;
using tfile::ColumnId;
using tfile::Node;
using tfile::NodeId;

auto compared_parts(const Node& node) {
  return std::tie(node.kind, node.name, node.original_name, node.alternatives, node.tag, node.date);
}
auto compared_parts(const Column& column) {
  return std::tie(column.path, column.dtype, column.role, column.optional, column.shape, column.branch, column.field,
                  column.title, column.class_name, column.reason);
}

class Comparison {
 public:
  Comparison(const tfile::Table& of, const tfile::Table& shown) : of_(of), shown_(shown) {}

  std::vector<NodeId> left_out;

  // Whether all that is shown below a node is the same.
  bool compare(NodeId own, NodeId other) {
    const std::vector<NodeId>& shown = shown_.nodes[other].children;
    auto next = shown.begin();
    for (const NodeId child : of_.nodes[own].children) {
      if (next == shown.end() || !are_same(child, *next, own == 0)) {
        left_out.push_back(child);
      } else if (!compare(child, *next++)) {
        return false;
      }
    }
    return next == shown.end();
  }

 private:
  bool are_same(NodeId own, NodeId other, bool is_top) const {
    const Node &a = of_.nodes[own], &b = shown_.nodes[other];
    // Below the top, nobody asks for branches by their names, and of items a chain does not tell them.
    if (is_top && a.branch_name != b.branch_name) return false;
    if (compared_parts(a) != compared_parts(b) || a.column.has_value() != b.column.has_value()) return false;
    return !a.column || are_same(of_.columns[*a.column], shown_.columns[*b.column]);
  }
  bool are_same(const Column& a, const Column& b) const {
    const auto is_same_path = [this](ColumnId x, ColumnId y) { return of_.columns[x].path == shown_.columns[y].path; };
    if (compared_parts(a) != compared_parts(b) || !std::ranges::equal(a.lists, b.lists, is_same_path)) return false;
    return a.counter && b.counter ? is_same_path(*a.counter, *b.counter) : a.counter == b.counter;
  }

  const tfile::Table &of_, &shown_;
};

}  // namespace

std::optional<std::vector<NodeId>> nodes_left_out(const tfile::Table& of, const tfile::Table& shown) {
  if (of.entries != shown.entries || of.title != shown.title || of.clusters != shown.clusters) return std::nullopt;
  Comparison comparison(of, shown);
  if (!comparison.compare(0, 0)) return std::nullopt;
  std::ranges::sort(comparison.left_out);
  return std::move(comparison.left_out);
}

}  // namespace tfilefs
