// SPDX-License-Identifier: Apache-2.0
// The part of Overlay that refuses files, when they are made or closed, that can never be committed.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "staging/overlay/overlay.h"
#include "staging/overlay/staged_object.h"

namespace tfilefs {

using tfile::fail;

namespace {

// The error for something that was reported before: only the errno.
Error as_told() { return {ErrorKind::unsupported, "", -1, EOPNOTSUPP}; }

}  // namespace

void Overlay::read_columns(StagedTable& table) {
  for (StagedColumn& column : table.columns) {
    read_npy_header(column);
    if (!column.unreadable.empty() || !is_offsets(column)) continue;
    if (auto checked = check_offsets_of(column); !checked) column.unreadable = checked.error().text;
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
      const Lock lock(mutex);
      seen = node.offsets;
      changes = node.changes;
      now.size = std::min(column.size, node.bytes->size());
      now.base = node.base;
    }
    auto checked = check_offsets(now, seen);
    const Lock lock(mutex);
    if (changes != node.changes) continue;
    if (!checked) return tl::unexpected(std::move(checked).error());
    node.offsets = *checked;
    return {};
  }
}

Result<> Overlay::check_place(const NodePtr& in) const {
  for (NodePtr at = in; at; at = at->parent.lock()) {
    if (at->base_name.empty() && !at->refusal.empty()) return tl::unexpected(as_told());
  }
  return {};
}

// An object is a new directory of its own: a committed directory holds keys, and a table columns.
Result<> Overlay::check_object(const NodePtr& in, std::string_view name) {
  if (!is_object_file(name)) return {};
  const Lock lock(mutex);
  const bool may_be_one = in->parent.lock() && in->base_name.empty();
  if (may_be_one && !table_above(*in)) return {};
  return tl::unexpected(
      refuse({joined_path(staged_path(*in), std::string(name)) +
                  ": an object is a new directory, outside of tables, that holds " + std::string(kObjectBytes),
              nullptr}));
}

Error Overlay::refuse(const Refusal& refusal) {
  if (refusal.top) refusal.top->refusal = refusal.reason;
  return {ErrorKind::unsupported, refusal.reason, -1, EOPNOTSUPP};
}

void Overlay::examine(const NodePtr& table, StagedNode& file) {
  if (std::exchange(table->examined, true)) return;
  const std::string shown = "/" + joined_path(file_path, staged_path(*table));
  for (const Refusal& found : examine_table(*table)) {
    errors.add(shown, refuse(found));
    file.error = as_told();
  }
}

}  // namespace tfilefs
