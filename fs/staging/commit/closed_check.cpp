// SPDX-License-Identifier: Apache-2.0
#include "staging/commit/closed_check.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "array/arrow_columns.h"
#include "staging/commit/table_progress.h"
#include "staging/overlay/staged_arrow.h"
#include "staging/overlay/staged_object.h"
#include "tfile/node.h"
#include "tfile/variant_type.h"

namespace tfilefs {

using tfile::fail;

namespace {

// A name that is that of no column, nor one that programs give to files that they are still writing.
bool is_stray(std::string_view name) {
  return name[0] != '.' && !name.ends_with(".npy") && !tfile::parse_typed_name(name) && !arrow_table_name(name) &&
         !is_object_file(name);
}

bool is_checked_by_name(std::string_view name) {
  return name == "offsets.i8" || name == tfile::kTagsName || name == tfile::kIndexName || name.ends_with(".npy") ||
         arrow_table_name(name) || is_stray(name);
}

StagedColumn column_of(const NodePtr& node, std::string path) {
  StagedColumn column;
  column.node = node;
  column.path = std::move(path);
  column.bytes = node->bytes;
  column.size = node->bytes->size();
  column.base = node->base;
  return column;
}

// The index beside the tags of a variant, or the reverse, if no program is writing it.
std::optional<StagedColumn> beside(const StagedNode& node, const std::string& path) {
  if (node.name != tfile::kTagsName && node.name != tfile::kIndexName) return std::nullopt;
  const std::string_view other = node.name == tfile::kTagsName ? tfile::kIndexName : tfile::kTagsName;
  const NodePtr directory = node.parent.lock();
  const auto found = directory ? directory->children.find(other) : decltype(directory->children.end())();
  if (!directory || found == directory->children.end() || !found->second->bytes || found->second->writers > 0)
    return std::nullopt;
  return column_of(found->second, path.substr(0, path.size() - node.name.size()).append(other));
}

Result<> check_variants(const StagedTable& table) {
  for (const StagedColumn& column : table.columns) {
    for (const VariantsSeen::Alternative& each : column.variants.alternatives) {
      if (each.wrong) return fail(ErrorKind::invalid, wrong_index(column, *each.wrong, each.wanted));
    }
  }
  return {};
}

}  // namespace

Result<StagedTable> arrow_table(const StagedArrow& file, StagingMemory& memory) {
  TRY(StagedTable table, read_staged_arrow(file, memory));
  const TableProgress progress = progress_of(table, nullptr);
  if (!progress.whole) return fail(ErrorKind::invalid, progress.reasons[0]);
  return table;
}

Result<> check_arrow(const NodePtr& node, StagingMemory& memory) {
  const StagedArrow file{node, "", "", node->bytes->size(), false, std::nullopt};
  TRY(const bool whole, is_whole_arrow(*node->bytes, file.size));
  if (!whole) return {};  // a program may continue the file
  TRY_VOID(arrow_table(file, memory));
  return {};
}

bool is_to_be_checked(const Overlay& overlay, const StagedNode& node) {
  return is_checked_by_name(overlay.place_of(node).name);
}

Result<> check_closed(Overlay& overlay, const NodePtr& node, StagingMemory& memory) {
  StagedTable table;
  std::string name;
  {
    const Overlay::Locked lock(overlay);
    name = node->name;
    const auto place = table_above(*node);
    if (place) {
      table.columns.push_back(column_of(node, place->second));
      if (auto other = beside(*node, place->second)) table.columns.push_back(*std::move(other));
    }
  }
  if (!table.columns.empty()) {
    if (is_stray(name)) {
      overlay.errors.add("/" + overlay.path(*node),
                         "not a column: its table will not be committed until it is "
                         "renamed or removed");
      return {};
    }
    overlay.read_columns(table);
    const std::string& reason = table.columns[0].unreadable;
    return reason.empty() ? check_variants(table) : fail(ErrorKind::invalid, reason);
  }
  return arrow_table_name(name) ? check_arrow(node, memory) : Result<>();
}

}  // namespace tfilefs
