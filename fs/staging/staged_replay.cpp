// SPDX-License-Identifier: Apache-2.0
// Of StagedFile: what a writer that crashed left.
#include <algorithm>
#include <utility>

#include "staging/column_items.h"
#include "staging/recovery.h"
#include "staging/staged_file.h"
#include "tfile/file.h"

namespace tfilefs {

using tfile::fail;

namespace {

// Of the columns of a replayed table those that the file has: new ones that it knows; and what was appended, if it has
// as many entries as are staged. Inner columns of lists go with the others.
std::vector<StagedColumn> committed_columns(const StagedTable& table, const CommittedTable& committed) {
  const tfile::CommittedForm& form = committed.form;
  const auto known = [&](const StagedColumn& column) {
    return std::find_if(form.columns.begin(), form.columns.end(),
                        [&](const tfile::OfferedColumn& c) { return c.path == column.path; });
  };
  bool appended = true;
  for (const StagedColumn& column : table.columns) {
    const bool inner = column.path.find("/values") != std::string::npos || column.path.ends_with("/chars.u1");
    const auto of = known(column);
    if (column.base > 0 && !inner && of != form.columns.end())
      appended &= entries_of(column, *of) <= committed.entries;
  }
  std::vector<StagedColumn> done;
  for (const StagedColumn& column : table.columns) {
    if (column.base > 0 ? appended : known(column) != form.columns.end()) done.push_back(column);
  }
  return done;
}

}  // namespace

// What a writer that crashed left: what its last commit brought into the file is done, the rest is staged again.
Result<> StagedFile::replay() {
  const Lock commit(commit_mutex_);
  const Lock change(change_mutex_);
  auto found = Journal::replay(place_->directory.get(), journal_name(place_->name), place_->owner().uid,
                               Journal::Use::take_over);
  // Another mount writes the file: it can be read, and who wants to write is told then.
  if (!found && (found.error().kind == ErrorKind::not_found || found.error().kind == ErrorKind::busy)) return {};
  TRY(Replayed replayed, std::move(found));
  if (!replayed.cut.empty()) writing_.errors.add("/" + path_, "journal read up to its last whole record: " + replayed.cut);
  const auto intended = std::find_if(replayed.records.rbegin(), replayed.records.rend(),
                                     [](const JournalRecord& record) { return record.kind == JournalKind::intend; });
  if (intended != replayed.records.rend()) {
    TRY(const bool mended, mend_head(*place_, *intended));
    if (mended) writing_.errors.add("/" + path_, "the head was torn; it was written again from the journal");
  }
  std::shared_ptr<const tfile::File> file;
  if (auto source = place_->source()) {
    TRY(file, tfile::File::open(*source));
    if (replayed.begin.file_end != 0 && file->header().uuid != replayed.begin.file_uuid)
      return fail(ErrorKind::busy, place_->shown + ": the journal beside it belongs to another file; left alone");
  }
  journal_ = replayed.journal;
  TRY(const RestoredTree restored,
      restore_tree(root_, replayed.records, file.get(),
                   [this, &journal = replayed.journal](std::uint64_t id, std::uint64_t base) {
                     return new_bytes(id, base, journal);
                   }));
  {
    const Lock lock(mutex_);
    last_id_ = restored.last_id;
    explicit_ = restored.makes_file;
  }
  if (file) TRY_VOID(drop_committed(*file));
  return begin_change();
}

// Of what was replayed: columns that a commit brought into the file before the crash.
Result<> StagedFile::drop_committed(const tfile::File& file) {
  StagedChanges changes;
  {
    const Lock lock(mutex_);
    changes = staged_changes(root_);
  }
  CommitWork done;
  for (StagedTable& table : changes.tables) {
    if (committed_kind(file, table.path) != CommittedKind::table) continue;
    TRY(const CommittedTable* const committed, committer_.committed_table(table.path));
    table.node->base_name = table.node->name;
    table.node->is_table = true;
    table.columns = committed_columns(table, *committed);
    for (StagedColumn& column : table.columns) column.done = column.size;
    // What is there still has still to go.
    std::erase_if(table.removed, [&](const std::string& name) {
      return std::any_of(committed->form.columns.begin(), committed->form.columns.end(), [&](const auto& column) {
        return column.path == name || column.path.starts_with(name + "/");
      });
    });
    done.tables.push_back({std::move(table), 0, true});
  }
  // What was removed or moved, and is: the names are no longer there.
  for (const CommitWork::Key& key : changes.rest.removed) {
    const std::string path = key.directory.empty() ? key.name : key.directory + "/" + key.name;
    if (committed_kind(file, path) != CommittedKind::nothing) continue;
    const Lock lock(mutex_);
    if (const NodePtr in = node_at(root_, key.directory)) in->hidden.erase(key.name);
  }
  for (const NodePtr& node : changes.rest.made) {
    const Lock lock(mutex_);
    if (committed_kind(file, staged_path(*node)) == CommittedKind::directory) node->base_name = node->name;
  }
  settle(done);
  return {};
}

}  // namespace tfilefs
