// SPDX-License-Identifier: Apache-2.0
#include "view/type_text.h"

#include <string_view>

namespace tfilefs {
namespace {

using tfile::NodeId;
using tfile::NodeKind;
using tfile::Table;

std::string number_text(const tfile::Column& column) {
  const std::string_view suffix = tfile::type_suffix(column.dtype);
  const std::string bits = std::to_string(8 * tfile::size_of(column.dtype));
  std::string text = suffix[0] == 'b'   ? "bool"
                     : suffix[0] == 'f' ? "float" + bits
                     : suffix[0] == 'u' ? "uint" + bits
                                        : "int" + bits;
  for (const std::uint32_t extent : column.shape) text += "[" + std::to_string(extent) + "]";
  return text;
}

// Behind the offsets come the items, in a directory of their own or as its files.
std::string of_items(const Table& table, const tfile::Node& list, std::string_view what) {
  if (list.children.size() < 2) return std::string(what.substr(0, what.find(' ')));
  const bool is_one = list.children.size() == 2;
  return std::string(what) + (is_one ? type_text(table, list.children[1]) : "record");
}

}  // namespace

std::string type_text(const Table& table, NodeId id) {
  const tfile::Node& node = table.nodes[id];
  if (table.is_unresolved(id)) return "";
  if (node.date != tfile::DateKind::none) return "date";
  switch (node.kind) {
    case NodeKind::number:
      return node.column ? number_text(table.columns[*node.column]) : "";
    case NodeKind::string:
      return "string";
    case NodeKind::raw:
      return "bytes";
    case NodeKind::list:
      return of_items(table, node, "list of ");
    case NodeKind::map:
      return "map";
    case NodeKind::optional:
      return of_items(table, node, "optional ");
    case NodeKind::record:
      return "record";
    case NodeKind::variant:
      return "variant";
  }
  return "";
}

}  // namespace tfilefs
