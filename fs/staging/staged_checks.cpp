// SPDX-License-Identifier: Apache-2.0
// Of StagedFile: what is refused when it is made, or closed, for it can never be committed.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "staging/overlay/arrow_columns.h"
#include "staging/overlay/staged_arrow.h"
#include "staging/staged_file.h"
#include "tfile/node.h"

namespace tfilefs {

using tfile::fail;

namespace {

// Of what was told before, the errno alone.
Error as_told() { return {ErrorKind::unsupported, "", -1, EOPNOTSUPP}; }

bool is_of_object(std::string_view name) { return name == "object.bin" || name == "object.json"; }

// Of no column; and not a name that programs give to what they are still writing.
bool is_stray(std::string_view name) {
  return name[0] != '.' && !name.ends_with(".npy") && !tfile::parse_typed_name(name) && !arrow_table_name(name);
}

bool is_checked_by_name(std::string_view name) {
  return name == "offsets.i8" || name.ends_with(".npy") || arrow_table_name(name) || is_stray(name);
}

}  // namespace

// The columns' own names, and what can be seen of them alone.
void StagedFile::read_columns(StagedTable& table) {
  for (StagedColumn& column : table.columns) {
    read_npy_header(column);
    if (!column.unreadable.empty() || !is_offsets(column)) continue;
    if (auto checked = check_offsets_of(column); !checked) column.unreadable = checked.error().text;
  }
}

// Once more where they changed meanwhile.
Result<> StagedFile::check_offsets_of(const StagedColumn& column) {
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

bool StagedFile::is_to_be_checked(const StagedNode& node) const {
  const Lock lock(mutex_);
  return is_checked_by_name(node.name);
}

Result<> StagedFile::check_closed(const NodePtr& node) {
  StagedTable table;
  std::string name;
  {
    const Lock lock(mutex_);
    name = node->name;
    const auto place = table_above(*node);
    if (place) {
      StagedColumn& column = table.columns.emplace_back();
      column.node = node;
      column.path = place->second;
      column.bytes = node->bytes;
      column.size = node->bytes->size();
      column.base = node->base;
    }
  }
  if (!table.columns.empty()) {
    if (is_stray(name)) {
      writing_.errors.add("/" + path(*node), "no column: its table is not committed until it is renamed, or removed");
      return {};
    }
    read_columns(table);
    const std::string& reason = table.columns[0].unreadable;
    return reason.empty() ? Result<>() : fail(ErrorKind::invalid, reason);
  }
  return arrow_table_name(name) ? check_arrow(node) : Result<>();
}

Result<StagedTable> StagedFile::arrow_table(const StagedArrow& file) const {
  TRY(StagedTable table, read_staged_arrow(file, writing_.memory));
  const TableProgress progress = progress_of(table, nullptr);
  if (!progress.whole) return fail(ErrorKind::invalid, progress.reasons[0]);
  return table;
}

Result<> StagedFile::check_arrow(const NodePtr& node) const {
  const StagedArrow file{node, "", "", node->bytes->size(), false, std::nullopt};
  TRY(const bool whole, is_whole_arrow(*node->bytes, file.size));
  if (!whole) return {};  // somebody may go on
  TRY_VOID(arrow_table(file));
  return {};
}

// Nothing more is made where all is refused.
Result<> StagedFile::check_place(const NodePtr& in) const {
  for (NodePtr at = in; at; at = at->parent.lock()) {
    if (at->base_name.empty() && !at->refusal.empty()) return tl::unexpected(as_told());
  }
  return {};
}

// `cp -r` of an object makes files of these names, each with the others.
Result<> StagedFile::check_object(const NodePtr& in, std::string_view name) {
  if (!is_of_object(name)) return {};
  const Lock lock(mutex_);
  Refusal refusal{staged_path(*in) +
                      ": histograms and other objects are not written, tables of columns are: take ROOT's "
                      "rootcp, or copy the whole file; rm -r " +
                      in->name + " here",
                  in->parent.lock() && in->base_name.empty() ? in : nullptr};
  return tl::unexpected(refuse(refusal));
}

Error StagedFile::refuse(const Refusal& refusal) {
  if (refusal.top) refusal.top->refusal = refusal.reason;
  return {ErrorKind::unsupported, refusal.reason, -1, EOPNOTSUPP};
}

// What was made in a directory while nobody knew it for a table; whoever made it one is told when closing `file`.
void StagedFile::examine(const NodePtr& table, StagedNode& file) {
  if (std::exchange(table->examined, true)) return;
  const std::string shown = "/" + joined_path(path_, staged_path(*table));
  for (const Refusal& found : examine_table(*table)) {
    writing_.errors.add(shown, refuse(found));
    file.error = as_told();
  }
}

}  // namespace tfilefs
