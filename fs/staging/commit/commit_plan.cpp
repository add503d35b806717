// SPDX-License-Identifier: Apache-2.0
// The part of Commits that decides what is committed, and updates the staged names after that.
#include <algorithm>
#include <utility>

#include "staging/commit/closed_check.h"
#include "staging/commit/commits.h"
#include "staging/commit/object_offer.h"
#include "staging/commit/table_progress.h"

namespace tfilefs {

using tfile::fail;

namespace {

void thaw(const std::vector<StagedObject>& objects) {
  for (const StagedObject& object : objects) {
    for (const StagedColumn& file : object.files) file.node->bytes->thaw();
  }
}

}  // namespace

// ---- planning

// The complete contents of now; they cannot be changed until release().
CommitWork Commits::plan_work(Phase phase, const std::string& below, bool& again) {
  again = false;
  StagedChanges changes;
  {
    const Lock change(changes_.mutex);  // the names of frozen files must not change
    const Overlay::Locked lock(overlay_);
    changes = staged_changes(overlay_.root);
    // An empty file and empty directories are only made when nothing more can come.
    changes.rest.make_file = phase == Phase::last && !lock->there && lock->made_by_name;
    std::erase_if(changes.tables, [&](const StagedTable& table) { return !concerns(below, table.path); });
    for (StagedTable& table : changes.tables) {
      // A .npy file is committed as a whole or not at all, since its column cannot be continued in it.
      for (StagedColumn& column : table.columns) column.size = column.node->bytes->freeze(is_npy(column.path));
    }
    for (StagedArrow& file : changes.arrows) file.size = file.node->bytes->freeze(true);
    std::erase_if(changes.objects, [&](const StagedObject& object) { return !concerns(below, object.path); });
    for (StagedObject& object : changes.objects) {
      for (StagedColumn& file : object.files) file.size = file.node->bytes->freeze(true);
    }
  }
  CommitWork work = std::move(changes.rest);
  for (StagedTable& table : changes.tables) plan_table(std::move(table), phase, again, work);
  if (phase == Phase::written) {
    for (const StagedArrow& file : changes.arrows) file.node->bytes->thaw();
    thaw(changes.objects);
    if (!rests_on_names(work)) {  // a program that is still writing may go on to remove or rename names
      work.removed.clear();
      work.renamed.clear();
      work.moved.clear();
      work.whiteouts.clear();
    }
  } else {
    tell_misplaced(changes, below);
    plan_arrows(changes, below, work);
    plan_objects(std::move(changes.objects), work);
  }
  keep_needed_directories(work, phase == Phase::last);
  return work;
}

void Commits::plan_table(StagedTable table, Phase phase, bool& again, CommitWork& work) {
  if (!table.removed.empty() && !table.columns.empty()) {
    again = true;
    CommitWork later;
    later.tables.push_back({table});
    release(later);
    table.columns.clear();
  }
  overlay_.read_columns(table);
  const TableProgress done = progress(table);
  tell(table.path, done.hopeless);
  // It has a name, and nothing that could still come.
  const bool stays_empty = phase == Phase::last && table.forced && !table.committed && table.columns.empty();
  const bool whole = (done.whole && phase != Phase::written) || (stays_empty && table.refused.empty());
  const bool clusters = !whole && done.can_be_cut && grows_in_step(table, done);
  CommitWork one;
  one.tables.push_back({std::move(table), done.entries, whole});
  if (whole || clusters) {
    work.tables.push_back(std::move(one.tables[0]));
  } else {
    release(one);
  }
}

// Whether clusters can be cut while the table is still written: its columns grow together (a single one may only be the
// first of many), and there are enough bytes.
bool Commits::grows_in_step(const StagedTable& table, const TableProgress& progress) const {
  std::uint64_t staged = 0;
  for (const StagedColumn& column : table.columns) staged += column.size - std::min(column.size, column.base);
  const bool has_npy = std::ranges::any_of(table.columns, [](const StagedColumn& each) { return each.header > 0; });
  return table.removed.empty() && !has_npy && progress.fields.size() > 1 && in_step(progress.fields) &&
         staged >= 2 * writing_.options.cluster_bytes.value_or(tfile::usual_cluster_bytes(table.format));
}

TableProgress Commits::progress(StagedTable& table) {
  if (!table.committed) return progress_of(table, nullptr);
  auto committed = committer_.committed_table(table.committed_path);
  if (committed) return progress_of(table, *committed);
  TableProgress none;
  none.reasons.push_back(committed.error().text);
  return none;
}

// Files that are no longer being written, and are complete, are committed with the tables.
void Commits::plan_arrows(const StagedChanges& changes, const std::string& below, CommitWork& work) {
  for (const StagedArrow& file : changes.arrows) {
    auto table =
        concerns(below, file.table) ? whole_arrow(file) : Result<StagedTable>(fail(ErrorKind::busy, "not now"));
    const bool is_hopeless = !table && table.error().kind != ErrorKind::busy;
    tell(file.path, is_hopeless ? std::vector{table.error().text} : std::vector<std::string>());
    if (table) {
      const std::int64_t entries = progress_of(*table, nullptr).entries;
      work.tables.push_back({*std::move(table), entries, true});
    } else {
      file.node->bytes->thaw();
    }
  }
}

// The objects are made once more when they are written: so that not all are in memory together.
void Commits::plan_objects(std::vector<StagedObject> objects, CommitWork& work) {
  std::vector<StagedObject> later;
  for (StagedObject& object : objects) {
    const auto made = offered_object(object);
    const bool is_hopeless = !made && made.error().kind != ErrorKind::busy;
    tell(object.path, is_hopeless ? std::vector{made.error().text} : std::vector<std::string>());
    (made ? work.objects : later).push_back(std::move(object));
  }
  thaw(later);
}

Result<StagedTable> Commits::whole_arrow(const StagedArrow& file) {
  if (file.is_open) return fail(ErrorKind::busy, "open for writing");
  if (is_taken(file)) return fail(ErrorKind::exists, file.table + " already exists");
  return arrow_table(file, writing_.memory);
}

// Whether there is another table of that name, staged or committed.
bool Commits::is_taken(const StagedArrow& file) {
  bool there = false;
  {
    const Overlay::Locked lock(overlay_);
    if (node_at(overlay_.root, file.table)) return true;
    there = lock->there;
  }
  if (!there) return false;
  const auto committed = committer_.committed_table(file.table);
  return committed || committed.error().kind != ErrorKind::not_found;
}

// ---- settling

void Commits::release(const CommitWork& work) {
  for (const CommitWork::Table& table : work.tables) {
    if (table.staged.arrow_size) table.staged.node->bytes->thaw();
    for (const StagedColumn& column : table.staged.columns) column.node->bytes->thaw();
  }
  thaw(work.objects);
}

// A class makes an object only with the bytes or arrays of one. Copies of directories have that of theirs.
void Commits::tell_lost_classes(const CommitWork& work) {
  for (const CommitWork::Directory& made : work.directories) {
    if (made.class_name.empty() || made.class_name.starts_with("TDirectory")) continue;
    overlay_.errors.add("/" + joined_path(overlay_.file_path, made.path),
                        "its user.tfilefs.class is lost: it has no part of an object, so it becomes a plain directory");
  }
}

// Replaces staged names by committed ones. Files that were opened before go on reading the staged bytes.
void Commits::settle(const CommitWork& work) {
  tell_lost_classes(work);
  const Overlay::Locked lock(overlay_);
  ++lock->settled_commits;
  for (const auto& [node, name] : work.whiteouts) node->whiteouts.erase(name);
  // Before anything below them becomes committed under their new names.
  for (const NodePtr& node : work.moved) {
    if (const NodePtr parent = node->parent.lock()) parent->whiteouts.erase(node->base_name);
  }
  for (const NodePtr& node : work.moved) became_committed(node);
  for (const CommitWork::Directory& made : work.directories) became_committed(made.node);
  for (const StagedObject& object : work.objects) settle_object(object);
  for (const CommitWork::Table& table : work.tables) {
    if (table.staged.arrow_size) {
      settle_whole(table.staged.node);
      continue;
    }
    const NodePtr& node = table.staged.node;
    became_table(node);
    for (const std::string& name : table.staged.removed) node->whiteouts.erase(name);
    for (const StagedColumn& column : table.staged.columns) settle_column(column);
  }
}

// All files of it show what the object shows from now on, or go.
void Commits::settle_object(const StagedObject& object) {
  became_committed(object.node);
  for (const StagedColumn& file : object.files) settle_whole(file.node);
  std::vector<NodePtr> left{object.node};
  for (std::size_t i = 0; i < left.size(); ++i) {
    const NodePtr node = left[i];
    if (!node->directory) {  // it has come since the commit began
      settle_whole(node);
      continue;
    }
    node->base_name = node->name;
    node->note_committed(CommittedKind::object);
    for (const auto& [name, child] : node->children) left.push_back(child);
  }
}

void Commits::settle_column(const StagedColumn& column) {
  StagedNode& node = *column.node;
  const NodePtr parent = node.parent.lock();
  if (parent) became_committed(parent);  // the directories above the column are committed with it
  if (column.header > 0 && !node.gone) return settle_whole(column.node);
  if (node.gone) {  // removed while it was committed: the next commit removes it from the file
    if (parent) parent->whiteouts.insert(node.name);
  } else if (node.writers == 0 && node.bytes->size() == column.done && !node.bytes->is_cut()) {
    node.settled = true;
    detach(column.node);
  } else {
    node.base = column.done;
    node.continues = true;
    node.bytes->drop_before(column.done);
  }
}

void Commits::settle_whole(const NodePtr& file) {
  StagedNode& node = *file;
  if (const NodePtr parent = node.parent.lock()) became_committed(parent);
  node.settled = true;
  detach(file);
  // A program that opened it meanwhile would write bytes that are never committed.
  if (node.writers > 0) node.error = outdated("committed while it was open").value();
}

}  // namespace tfilefs
