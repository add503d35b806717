// SPDX-License-Identifier: Apache-2.0
// The part of Changes that changes the tree of names.
#include <fcntl.h>
#include <stdio.h>

#include <utility>

#include "staging/changes/changes.h"
#include "staging/changes/date_record.h"
#include "staging/overlay/staged_arrow.h"
#include "tfile/name.h"
#include "wall_clock.h"

namespace tfilefs {

using tfile::fail;

namespace {
// To be called when a name was added to a directory, or removed from it.
void note_names_changed(StagedNode& directory) {
  directory.attributes.modified = wall_clock();
  directory.attributes.time_was_set = false;
}

// Whether new names in it become keys. A new directory may still become a table, and the names of fields follow other
// rules.
bool holds_keys(const StagedNode& directory) {
  return !directory.parent.lock() || (!directory.base_name.empty() && !is_in_table(directory));
}

// "x;1": a name and a cycle, for those who look it up.
bool ends_in_cycle(std::string_view key) {
  const std::size_t digits = key.find_last_not_of("0123456789") + 1;
  return digits > 0 && digits < key.size() && key[digits - 1] == ';';
}

// Checks the name of a future directory or table: its key must be shown under the same name, and a key with a slash in
// its name, or with a cycle, cannot be found.
Result<> check_key_name(std::string_view shown) {
  const std::string key = tfile::unescape_name(shown);
  if (ends_in_cycle(key))
    return invalid_argument(std::string(shown) + ": readers take the part after the ';' as a cycle");
  const bool is_path = key.find('/') != std::string::npos;
  const std::string again = tfile::escape_name(key);
  if (!is_path && again == shown) return {};
  return invalid_argument(std::string(shown) + ": " +
                          (is_path ? "a key cannot have a '/' in its name" : "would be shown as " + again));
}
}  // namespace

// Whether a file or directory may get that name in a directory: a new one, or `moved`.
Result<> Changes::check_name(const NodePtr& in, std::string_view name, bool directory, const StagedNode* moved) const {
  if (!overlay_.has_room(*in, name, moved)) return name_too_long("path too long");
  {
    const Overlay::Locked lock(overlay_);
    TRY_VOID(overlay_.check_place(lock, in));
    if (directory) return holds_keys(*in) ? check_key_name(name) : Result<>();
  }
  TRY_VOID(overlay_.check_object(in, name));
  TRY_VOID(overlay_.check_format(in, name));
  const auto arrow = arrow_table_name(name);
  return arrow ? check_key_name(*arrow) : Result<>();
}

// The table that contains the file or directory, null if there is none. Error: unsupported (it can be no part of it).
Result<NodePtr> Changes::table_of(const Overlay::Locked& lock, const StagedNode& node) const {
  const auto table = table_above(node);
  if (!table) return NodePtr();
  const Refusal refusal =
      node.directory ? refusal_of_directory(*table->first, table->second) : refusal_of(*table->first, table->second);
  if (!refusal.reason.empty()) return tl::unexpected(overlay_.refuse(lock, refusal));
  return table->first;
}

Result<NodePtr> Changes::make_directory(const NodePtr& in, std::string_view name, mode_t mode) {
  const Lock change(mutex);
  if (overlay_.look(*in, name).node) return name_taken();
  TRY_VOID(check_name(in, name, true, nullptr));
  NodePtr node = overlay_.new_node(in, name, true, mode);
  {
    const Overlay::Locked lock(overlay_);
    TRY_VOID(table_of(lock, *node));
  }
  TRY_VOID(begin_change());
  JournalRecord record;
  record.kind = JournalKind::create;
  record.id = node->id;
  record.file_kind = overlay_.format == tfile::TableFormat::tree ? StagedKind::directory : StagedKind::rntuple;
  {
    const Overlay::Locked lock(overlay_);
    record.text = staged_path(*node);
  }
  TRY_VOID(note(record));
  const Overlay::Locked lock(overlay_);
  attach(in, node, node->name);
  note_names_changed(*in);
  return node;
}

Result<NodePtr> Changes::make_file(const NodePtr& in, std::string_view name, mode_t mode) {
  if (overlay_.look(*in, name).node) return name_taken();
  TRY_VOID(check_name(in, name, false, nullptr));
  TRY(NodePtr node, stage_file(in, name, 0, mode, false));
  Error refused;
  {
    const Overlay::Locked lock(overlay_);
    auto table = table_of(lock, *node);  // which the file itself may make one
    if (table) {
      if (*table) overlay_.examine(lock, *table, *node);
      return node;
    }
    refused = std::move(table).error();
    detach(node);
  }
  JournalRecord record;
  record.kind = JournalKind::remove;
  record.id = node->id;
  TRY_VOID(note(record));
  return tl::unexpected(std::move(refused));
}

Result<NodePtr> Changes::stage_file(const NodePtr& in, std::string_view name, std::uint64_t base, mode_t mode,
                                    bool continues) {
  if (!overlay_.has_room(*in, name)) return name_too_long("path too long");
  TRY_VOID(begin_change());
  NodePtr node = overlay_.new_node(in, name, false, mode);
  JournalRecord record;
  record.kind = JournalKind::create;
  record.id = node->id;
  record.offset = base;
  if (continues) record.file_kind = StagedKind::continued;
  {
    const Overlay::Locked lock(overlay_);
    record.text = staged_path(*node);
  }
  TRY_VOID(note(record));
  node->bytes = new_bytes(node->id, base, journal_);
  node->bytes->limit_to(place_->capacity());
  node->base = base;
  node->continues = continues;
  const Overlay::Locked lock(overlay_);
  attach(in, node, node->name);
  note_names_changed(*in);
  return node;
}

Result<NodePtr> Changes::continue_file(const NodePtr& in, std::string_view name, const CommittedColumn& column,
                                       bool again) {
  const Lock change(mutex);
  if (NodePtr there = overlay_.look(*in, name).node) return there;
  TRY_VOID(begin_change());
  const auto found = check_basis(column);
  if (found) return stage_file(in, name, column.size, column.mode, true);
  if (again || column.commits != overlay_.commits()) return tl::unexpected(found.error());
  // If nothing is staged, another program may write the file.
  bool is_pending = false;
  {
    const Overlay::Locked lock(overlay_);
    drop_unused(*overlay_.root);
    is_pending = has_changes(*overlay_.root);
  }
  if (!is_pending) end_journal(false);
  return NodePtr();
}

Result<> Changes::check_basis(const CommittedColumn& column) const {
  const Overlay::Locked lock(overlay_);
  if (column.commits != lock->settled_commits) return fail(ErrorKind::stale, "committed since it was looked up");
  if (is_same_head(column.head, lock->basis.head)) return {};
  return fail(ErrorKind::stale, overlay_.file_path + ": another program has changed the file, which has staged data");
}

Result<> Changes::remove(const Looked& what) {
  const Lock change(mutex);
  const auto& [in, name, is_committed, commits] = what;
  const NodePtr node = overlay_.look(*in, name).node;
  bool committed = is_committed;
  if (node && !node->directory)
    committed |= overlay_.continues_committed(*node);  // a commit since the look-up may have committed it
  if (node && node->directory) {
    if (overlay_.status(*node).has_children) return not_empty();
    committed |= overlay_.base_name_of(*node) == name;  // by a commit that this has waited for
  } else {
    TRY_VOID(check_look(what));
  }
  if (!node && !committed) return no_such_entry("removed in the meantime");
  TRY_VOID(begin_change());
  // The record of the committed name hides the staged entry, too, and so comes first: a crash between the two leaves
  // nothing half done.
  const auto staged = node ? removal_of(*node) : std::nullopt;
  const bool is_hidden = committed && staged && staged->id != 0;
  if (staged && !is_hidden) TRY_VOID(note(*staged));
  if (committed) {
    JournalRecord record;
    record.kind = JournalKind::whiteout;
    {
      const Overlay::Locked lock(overlay_);
      record.text = joined_path(staged_path(*in), name);
    }
    TRY_VOID(note(record));
  }
  if (is_hidden) (void)note(*staged);
  const Overlay::Locked lock(overlay_);
  if (node) {
    detach(node);
    node->gone = true;
  }
  if (committed) in->whiteouts.emplace(name);
  note_names_changed(*in);
  return {};
}

Result<> Changes::set_aside(const NodePtr& in, std::string_view name) {
  const Lock change(mutex);
  TRY_VOID(begin_change());  // fails if the file cannot be written: then the key cannot be removed either
  const Overlay::Locked lock(overlay_);
  if (const NodePtr node = look(*in, name).node) {
    detach(node);
    node->gone = true;
  }
  in->set_aside.emplace(name);
  return {};
}

void Changes::drop_left_over() {
  const Lock change(mutex);
  std::vector<NodePtr> nodes{overlay_.root};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Overlay::Listed& child : overlay_.list(*nodes[i]).staged) {
      bool is_one = false;
      {
        const Overlay::Locked lock(overlay_);
        is_one = is_left_over(*child.node);
      }
      if (!is_one) {
        nodes.push_back(child.node);
        continue;
      }
      JournalRecord record;
      record.kind = JournalKind::remove;
      record.id = child.node->journal_id();
      if (!note(record)) return;  // the others stay for the next mount
      const Overlay::Locked lock(overlay_);
      detach(child.node);
    }
  }
}

Result<> Changes::check_look(const Looked& what) const {
  if (what.commits == overlay_.commits()) return {};
  return outdated(what.name + ": committed since it was looked up");
}

// Nothing for an entry that the journal knows only by its committed name.
std::optional<JournalRecord> Changes::removal_of(const StagedNode& node) const {
  JournalRecord record;
  record.kind = JournalKind::remove;
  const Overlay::Locked lock(overlay_);
  record.id = node.journal_id();
  if (record.id != 0) return record;
  if (node.base_name == node.name) return std::nullopt;
  record.text = staged_path(node);
  return record;
}

// A committed entry keeps its directory, and a part of a table also its name. Items staged behind it stay with it.
Result<> Changes::check_move(const StagedNode& node, const NodePtr& in, const Looked& to, const NodePtr& taken) const {
  {
    const Overlay::Locked lock(overlay_);
    const bool is_committed = node.directory ? !node.base_name.empty() : node.continues;
    if (is_committed && (!node.directory || in != to.directory || is_in_table(*in)))
      return crosses_files("already committed, cannot be moved");
  }
  // Under that name, or under another one from which it was renamed since.
  const bool replaces_committed = to.committed || (taken && !overlay_.base_name_of(*taken).empty());
  if (replaces_committed) return not_permitted(to.name + ": already committed, cannot be replaced");
  return {};
}

namespace {

JournalRecord rename_of(Overlay& overlay, const StagedNode& node, const Changes::Looked& to) {
  JournalRecord record;
  record.kind = JournalKind::rename;
  const Overlay::Locked lock(overlay);
  record.id = node.journal_id();
  if (record.id == 0) record.from = staged_path(node);
  record.text = joined_path(staged_path(*to.directory), to.name);
  return record;
}

}  // namespace

Result<> Changes::rename(const NodePtr& in, std::string_view name, const Looked& to, unsigned flags) {
  TRY_VOID(check_look(to));
  const NodePtr node = overlay_.look(*in, name).node;
  if (!node) return crosses_files("already committed, cannot be moved");
  const NodePtr taken = overlay_.look(*to.directory, to.name).node;
  if (taken == node) return {};
  if (flags & RENAME_EXCHANGE) return invalid_argument("RENAME_EXCHANGE is not supported in a ROOT file");
  if ((flags & RENAME_NOREPLACE) && (taken || to.committed)) return name_taken();
  TRY_VOID(check_move(*node, in, to, taken));
  if (taken && (taken->directory != node->directory || overlay_.status(*taken).has_children))
    return taken->directory ? not_empty() : is_a_directory();
  TRY_VOID(check_name(to.directory, to.name, node->directory, node.get()));
  {
    const Overlay::Locked lock(overlay_);
    const StagedNode moved(0, node->directory, to.name, to.directory);
    TRY_VOID(table_of(lock, moved));
  }
  TRY_VOID(begin_change());
  // The record of the rename replaces what has the name, so that a crash never leaves the name without a file.
  const auto removal = taken ? removal_of(*taken) : std::nullopt;
  const bool is_replaced = removal && removal->id != 0;
  if (removal && !is_replaced) TRY_VOID(note(*removal));
  TRY_VOID(note(rename_of(overlay_, *node, to)));
  if (is_replaced) (void)note(*removal);
  const Overlay::Locked lock(overlay_);
  if (taken) {
    detach(taken);
    taken->gone = true;
  }
  move_node(node, to.directory, to.name);
  note_names_changed(*in);
  note_names_changed(*to.directory);
  return {};
}

// ---- bytes

Result<> Changes::truncate(const NodePtr& node, std::uint64_t size) {
  const Lock change(mutex);
  TRY_VOID(begin_change());
  {
    const Overlay::Locked lock(overlay_);
    if (node->settled) return outdated("committed since it was looked up");
    if (size < node->base) return not_permitted("committed entries cannot be changed");
  }
  TRY_VOID(node->bytes->truncate(size));
  overlay_.written(*node, size);
  return {};
}

Result<> Changes::set_text(StagedNode& node, JournalKind kind, std::string StagedAttributes::*place, std::string text) {
  const Lock change(mutex);
  TRY_VOID(begin_change());
  JournalRecord record;
  record.kind = kind;
  record.id = node.id;
  record.text = text;
  TRY_VOID(note(record));
  const Overlay::Locked lock(overlay_);
  node.attributes.*place = std::move(text);
  return {};
}

Result<> Changes::set_title(const NodePtr& node, std::string title) {
  return set_text(*node, JournalKind::title, &StagedAttributes::title, std::move(title));
}

Result<> Changes::set_encoding(const NodePtr& node, std::string encoding) {
  const auto parsed = tfile::parse_float_encoding(encoding);
  if (!parsed) return invalid_argument(parsed.error().text);
  if (overlay_.continues_committed(*node)) return {};
  return set_text(*node, JournalKind::encoding, &StagedAttributes::encoding, std::move(encoding));
}

Result<> Changes::set_class(const NodePtr& node, std::string name) {
  return set_text(*node, JournalKind::class_name, &StagedAttributes::class_name, std::move(name));
}

Result<> Changes::keep_date(const NodePtr& node) {
  const Lock change(mutex);
  JournalRecord record;
  {
    const Overlay::Locked lock(overlay_);
    if (node->settled || node->journal_id() == 0 || !node->base_name.empty()) return {};
    record = date_record(*node);
  }
  TRY_VOID(begin_change());
  return note(record);
}

}  // namespace tfilefs
