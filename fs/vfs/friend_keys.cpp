// SPDX-License-Identifier: Apache-2.0
#include "vfs/friend_keys.h"

#include <algorithm>
#include <charconv>

#include "tfile/name.h"
#include "view/table_form.h"

namespace tfilefs {
namespace {

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_key(const tfile::Column& column) {
  return column.role == tfile::Role::values && column.lists.empty() && column.shape.empty() && column.reason.empty();
}

std::optional<tfile::ColumnId> column_of(const LoadedTable& loaded, const std::string& name) {
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

}  // namespace

bool is_name(const std::string& part) {
  if (whole_number(part)) return true;
  return !part.empty() && std::ranges::all_of(part, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '/' || c >= 0x80;
  });
}

std::optional<KeySource> key_source(const LoadedTable& loaded, const std::string& name) {
  if (const auto number = whole_number(name)) return KeySource{nullptr, {}, *number};
  const auto column = column_of(loaded, name);
  if (!column || !is_key(loaded.table().columns[*column])) return std::nullopt;
  return KeySource{loaded.streams(), loaded.table().columns[*column], 0};
}

Result<KeySources> key_sources(const LoadedTable& loaded, const FriendKey& key) {
  KeySources sources;
  sources.entries = std::max<std::int64_t>(0, loaded.table().entries);
  const auto missing = [&](const std::string& name) {
    return tfile::fail(ErrorKind::not_found, loaded.path() + ": no column " + name + " of one number for each entry");
  };
  auto major = key_source(loaded, key.major);
  if (!major) return missing(key.major);
  sources.major = *std::move(major);
  auto minor = key_source(loaded, key.minor.empty() ? "0" : key.minor);
  if (!minor) return missing(key.minor);
  sources.minor = *std::move(minor);
  // Else no column would bound the number of entries that are looked up.
  if (!sources.major.streams && !sources.minor.streams)
    return tfile::fail(ErrorKind::unsupported, "a key of numbers alone: name a column");
  return sources;
}

}  // namespace tfilefs
