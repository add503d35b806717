// SPDX-License-Identifier: Apache-2.0
#include "staging/commit/variant_types.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "staging/commit/column_items.h"
#include "staging/overlay/staged_tree.h"
#include "tfile/name.h"
#include "tfile/node.h"
#include "tfile/variant_type.h"

namespace tfilefs {

using tfile::kIndexName;
using tfile::kTagsName;

namespace {

using ByPath = std::map<std::string, const StagedColumn*, std::less<>>;

bool is_variant(const ByPath& columns, const std::string& directory) {
  return columns.contains(joined_path(directory, std::string(kTagsName))) &&
         columns.contains(joined_path(directory, std::string(kIndexName)));
}

// Whether the type of another variant tells that of this one.
bool is_in_variant(const ByPath& columns, const std::string& directory) {
  for (std::size_t at = directory.find('/'); at != directory.npos; at = directory.find('/', at + 1)) {
    if (is_variant(columns, directory.substr(0, at))) return true;
  }
  return false;
}

std::optional<std::int64_t> items_of(const StagedColumn& column) {
  const auto offered = tfile::offered_column(column.path);
  return offered ? std::optional(entries_of(column, *offered)) : std::nullopt;
}

// The number of items that an alternative has; `below`: its columns, by their paths below the variant. A record has
// them in its members.
std::optional<std::int64_t> items_below(const std::string& name, const ByPath& below) {
  if (const auto own = below.find(name); own != below.end()) return items_of(*own->second);
  for (const std::string_view first : {std::string_view("offsets.i8"), kTagsName}) {
    const auto found = below.find(name + "/" + std::string(first));
    if (found != below.end()) return items_of(*found->second);
  }
  for (auto at = below.lower_bound(name + "/"); at != below.end() && at->first.starts_with(name + "/"); ++at) {
    if (at->first.find('/', name.size() + 1) == std::string::npos) return items_of(*at->second);
  }
  return std::nullopt;
}

// The type of which a mount makes that name; "" if it may be one of several.
std::string type_of(const std::string& name, bool is_file) {
  const auto typed = is_file ? tfile::parse_typed_name(name) : std::nullopt;
  const std::string stem = typed ? typed->stem : name;
  return stem.find('~') == stem.npos ? tfile::unescape_name(stem) : "";
}

// The types in the order of their tags, if the items tell it. `counts`: by tag less 1.
std::vector<std::string> ordered(const std::map<std::string, std::int64_t>& items,
                                 const std::vector<std::int64_t>& counts) {
  std::vector<std::string> types;
  for (const std::int64_t count : counts) {
    const auto has_it = [count](const auto& each) { return each.second == count; };
    if (std::ranges::count_if(items, has_it) != 1) return {};
    types.push_back(std::ranges::find_if(items, has_it)->first);
  }
  return types;
}

// The type of a variant; "" if it is in doubt.
std::string type_of_variant(const StagedColumn& tags, const StagedColumn& index, const ByPath& below) {
  std::map<std::string, std::int64_t> items;  // by type
  for (const auto& [path, column] : below) {
    const std::string name = path.substr(0, path.find('/'));
    if (name == kTagsName || name == kIndexName) continue;
    const std::string type = type_of(name, name.size() == path.size());
    const auto count = items_below(name, below);
    if (type.empty() || !count) return {};
    items[type] = *count;
  }
  const auto seen = look_at_variants(tags, index, tags.variants);
  if (!seen) return {};
  std::vector<std::int64_t> counts(items.size());
  for (const VariantsSeen::Alternative& alternative : seen->alternatives) {
    if (alternative.tag > counts.size() || alternative.first != 0 || alternative.wrong) return {};
    counts[alternative.tag - 1U] = alternative.next;
  }
  const std::vector<std::string> types = ordered(items, counts);
  return types.empty() ? "" : tfile::variant_type(types);
}

}  // namespace

bool find_variant_types(StagedTable& table) {
  if (!has_tags(table)) return false;
  ByPath columns;
  for (const StagedColumn& column : table.columns) columns.emplace(column.path, &column);
  bool found = false;
  for (const auto& [path, tags] : columns) {
    const auto beside = index_beside(path);
    const auto index = beside ? columns.find(*beside) : columns.end();
    if (index == columns.end() || tags->base > 0) continue;
    const std::string directory = path.substr(0, path.size() - kTagsName.size() - 1);
    if (table.classes.contains(directory) || is_in_variant(columns, directory)) continue;
    ByPath below;
    for (auto at = columns.lower_bound(directory + "/"); at != columns.end(); ++at) {
      if (!at->first.starts_with(directory + "/")) break;
      below.emplace(at->first.substr(directory.size() + 1), at->second);
    }
    const std::string type = type_of_variant(*tags, *index->second, below);
    if (type.empty()) continue;
    table.classes.emplace(directory, type);
    found = true;
  }
  return found;
}

}  // namespace tfilefs
