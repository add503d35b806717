// SPDX-License-Identifier: Apache-2.0
#include "vfs/friends/friend_keys.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tfile/name.h"
#include "view/table_form.h"

namespace tfilefs {
namespace {

bool is_key(const tfile::Column& column) {
  return column.role == tfile::Role::values && column.lists.empty() && column.shape.empty() && column.reason.empty();
}

std::optional<tfile::ColumnId> named_column(const LoadedTable& loaded, const std::string& name) {
  const tfile::Table& table = loaded.table();
  for (const tfile::NodeId child : table.nodes[0].children) {
    const tfile::Node& node = table.nodes[child];
    const bool is_named =
        bare_name(table.columns, node) == name || node.branch_name == name || node.original_name == name;
    if (is_named && node.column) return node.column;
  }
  const auto deep = loaded.find_branch(0, tfile::escape_name(name));
  return deep ? table.nodes[*deep].column : std::nullopt;
}

std::optional<tfile::ColumnId> key_column(const LoadedTable& loaded, const std::string& name) {
  const auto column = named_column(loaded, name);
  return column && is_key(loaded.table().columns[*column]) ? column : std::nullopt;
}

// A column by its name, or the columns of an expression.
Result<KeySource> key_source(const LoadedTable& loaded, const std::string& text) {
  if (const auto column = key_column(loaded, text))
    return KeySource{loaded.streams(), {loaded.table().columns[*column]}, std::nullopt};
  TRY(KeyExpression expression, KeyExpression::parse(text));
  KeySource source{loaded.streams(), {}, std::nullopt};
  for (const std::string& name : expression.names()) {
    const auto column = key_column(loaded, name);
    if (!column)
      return tfile::fail(ErrorKind::not_found, loaded.path() + ": no column " + name + " with one number per entry");
    source.columns.push_back(loaded.table().columns[*column]);
  }
  source.expression = std::move(expression);
  return source;
}

}  // namespace

Result<KeySources> key_sources(const LoadedTable& loaded, const FriendKey& key) {
  KeySources sources;
  sources.entries = std::max<std::int64_t>(0, loaded.table().entries);
  TRY(sources.major, key_source(loaded, key.major));
  TRY(sources.minor, key_source(loaded, key.minor.empty() ? "0" : key.minor));
  // Else no column would bound the number of entries that are looked up.
  if (sources.major.columns.empty() && sources.minor.columns.empty())
    return tfile::fail(ErrorKind::unsupported, "the key has no column, expected at least one");
  return sources;
}

}  // namespace tfilefs
