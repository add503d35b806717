// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/xattr.h"

#include <linux/limits.h>

#include <algorithm>

#include "tfile/name.h"
#include "tfile/variant_type.h"
#include "view/type_text.h"

namespace tfilefs {
namespace {

std::string shape_text(const std::vector<std::uint32_t>& shape) {
  std::string text = "[";
  for (const std::uint32_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

std::string original_name(const tfile::Node& node) {
  if (!node.original_name.empty()) return node.original_name;
  if (!node.branch_name.empty()) return node.branch_name;
  // The mount's name for a branch or member without a name. A branch of this very name has a branch_name.
  const auto typed = tfile::parse_typed_name(node.name);
  const bool has_none = (typed ? typed->stem : node.name) == tfile::escape_name("");
  return has_none ? "" : node.name;
}

// The first file of a list or string, the offsets, has the title of its branch. The members of a record have their
// own.
std::string title_of(const tfile::Table& table, const tfile::Node& node) {
  if (node.kind == tfile::NodeKind::record || node.kind == tfile::NodeKind::variant || node.children.empty()) return "";
  const tfile::Node& first = table.nodes[node.children[0]];
  return first.column ? table.columns[*first.column].title : "";
}

}  // namespace

Xattrs column_xattrs(const tfile::Node& node, const tfile::Column& column, std::optional<std::int64_t> length) {
  Xattrs all{{"user.tfilefs.name", original_name(node)},
             {"user.tfilefs.branch", column.branch},
             {"user.tfilefs.dtype", numpy_dtype(column.dtype)},
             {"user.tfilefs.shape", shape_text(column.shape)}};
  if (length) all.emplace_back("user.tfilefs.length", std::to_string(*length));
  all.emplace_back("user.tfilefs.title", column.title);
  all.emplace_back("user.tfilefs.class", column.class_name);
  all.emplace_back("user.tfilefs.compression", column.compression);
  if (!column.reason.empty()) all.emplace_back("user.tfilefs.reason", column.reason);
  return all;
}

Xattrs node_xattrs(const tfile::Node& node) {
  Xattrs all{{"user.tfilefs.name", original_name(node)}};
  if (!node.alternatives.empty()) all.emplace_back("user.tfilefs.class", tfile::variant_type(node.alternatives));
  return all;
}

Xattrs more_node_xattrs(const tfile::Table& table, tfile::NodeId id, std::uint64_t stored) {
  const tfile::Node& node = table.nodes[id];
  Xattrs all{{"user.tfilefs.type", type_text(table, id)}, {"user.tfilefs.stored", std::to_string(stored)}};
  if (!node.column) all.emplace_back("user.tfilefs.title", title_of(table, node));
  return all;
}

// A table that cannot be read has the reason.
Xattrs more_table_xattrs(const tfile::Table& table) {
  if (!table.reason.empty()) return {{"user.tfilefs.reason", table.reason}};
  std::uint64_t stored = 0;
  for (tfile::StreamId stream = 0; stream < table.stream_count(); ++stream) stored += table.shape(stream).stored_bytes;
  return {{"user.tfilefs.entries", std::to_string(table.entries)}, {"user.tfilefs.stored", std::to_string(stored)}};
}

Result<std::string> xattr_value(const Xattrs& all, std::string_view name) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& a) { return a.first == name; });
  if (at == all.end()) return no_such_attribute();
  return at->second.substr(0, XATTR_SIZE_MAX);  // a title may be longer than Linux allows for an attribute
}

std::string xattr_names(const Xattrs& all) {
  std::string names;
  for (const auto& [name, value] : all) names += name + '\0';
  return names;
}

}  // namespace tfilefs
