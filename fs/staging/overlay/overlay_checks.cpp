// SPDX-License-Identifier: Apache-2.0
// The part of Overlay that refuses files, when they are made or closed, that can never be committed.
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "staging/overlay/other_formats.h"
#include "staging/overlay/overlay.h"
#include "staging/overlay/staged_object.h"

namespace tfilefs {

using tfile::fail;

namespace {

// The error for something that was reported before: only the errno.
Error as_told() { return never_supported("").value(); }

}  // namespace

void Overlay::read_columns(StagedTable& table) {
  for (StagedColumn& column : table.columns) {
    read_npy_header(column);
    if (!column.unreadable.empty() || !is_offsets(column)) continue;
    if (auto checked = check_offsets_of(column); !checked) column.unreadable = checked.error().text;
  }
  if (!has_tags(table)) return;
  std::map<std::string_view, StagedColumn*> by_path;
  for (StagedColumn& column : table.columns) by_path.emplace(column.path, &column);
  for (StagedColumn& column : table.columns) {
    const std::optional<std::string> index = index_beside(column.path);
    const auto found = index ? by_path.find(*index) : by_path.end();
    if (found == by_path.end() || !column.unreadable.empty() || !found->second->unreadable.empty()) continue;
    if (auto looked = look_at_variants_of(column, *found->second); !looked) column.unreadable = looked.error().text;
  }
}

// Again if they have changed meanwhile.
Result<> Overlay::look_at_variants_of(StagedColumn& tags, const StagedColumn& index) {
  StagedNode &node = *tags.node, &beside = *index.node;
  for (;;) {
    std::uint64_t changes = 0;
    StagedColumn now = tags, now_beside = index;
    {
      const Lock lock(mutex_);
      changes = node.changes + beside.changes;
      now.size = std::min(tags.size, node.bytes->size());
      now.base = node.base;
      now_beside.size = std::min(index.size, beside.bytes->size());
      now_beside.base = beside.base;
      tags.variants = node.variants;
      const bool was_cut = node.lowest_change < tags.variants.tags || beside.lowest_change < tags.variants.index;
      if (was_cut) tags.variants = {};
    }
    auto looked = look_at_variants(now, now_beside, tags.variants);
    const Lock lock(mutex_);
    if (changes != node.changes + beside.changes) continue;
    if (!looked) return tl::unexpected(std::move(looked).error());
    tags.variants = node.variants = *std::move(looked);
    node.lowest_change = beside.lowest_change = UINT64_MAX;
    return {};
  }
}

// Again if they have changed meanwhile.
Result<> Overlay::check_offsets_of(const StagedColumn& column) {
  StagedNode& node = *column.node;
  for (;;) {
    OffsetsSeen seen;
    std::uint64_t changes = 0;
    StagedColumn now = column;
    {
      const Lock lock(mutex_);
      seen = node.offsets;
      changes = node.changes;
      now.size = std::min(column.size, node.bytes->size());
      now.base = node.base;
    }
    auto checked = check_offsets(now, seen);
    const Lock lock(mutex_);
    if (changes != node.changes) continue;
    if (!checked) return tl::unexpected(std::move(checked).error());
    node.offsets = *checked;
    return {};
  }
}

Result<> Overlay::check_place(const Locked&, const NodePtr& in) const {
  for (NodePtr at = in; at; at = at->parent.lock()) {
    if (at->base_name.empty() && !at->refusal.empty()) return tl::unexpected(as_told());
  }
  return {};
}

namespace {
// An object is a new directory of its own: a committed directory holds keys, and a table columns.
bool may_become_object(const StagedNode& directory) {
  return directory.parent.lock() && directory.base_name.empty() && !table_above(directory);
}
}  // namespace

Result<> Overlay::check_object(const NodePtr& in, std::string_view name) {
  if (!is_object_file(name)) return {};
  const Locked lock(*this);
  if (may_become_object(*in)) return {};
  return tl::unexpected(
      refuse(lock, {joined_path(staged_path(*in), std::string(name)) +
                        ": an object is a new directory, outside of tables, with " + std::string(kObjectBytes),
                    nullptr}));
}

// Programs ignore errors at close(2) of such files: pyarrow does.
Result<> Overlay::check_format(const NodePtr& in, std::string_view name) {
  const Locked lock(*this);
  if (makes_object(*in)) return {};  // a copy of an object with its views
  if (name == kObjectSheet && may_become_object(*in)) return {};
  const StagedNode file(0, false, std::string(name), in);
  const auto instead = taken_instead(name, table_above(file).has_value());
  if (!instead) return {};
  return tl::unexpected(refuse(lock, {joined_path(staged_path(*in), std::string(name)) + ": " + *instead, nullptr}));
}

Error Overlay::refuse(const Locked&, const Refusal& refusal) {
  if (refusal.top) refusal.top->refusal = refusal.reason;
  return never_supported(refusal.reason).value();
}

void Overlay::examine(const Locked& lock, const NodePtr& table, StagedNode& file) {
  if (std::exchange(table->examined, true)) return;
  const std::string shown = "/" + joined_path(file_path, staged_path(*table));
  for (const Refusal& found : examine_table(*table)) {
    errors.add(shown, refuse(lock, found));
    file.error = as_told();
  }
}

}  // namespace tfilefs
