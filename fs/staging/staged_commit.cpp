// SPDX-License-Identifier: Apache-2.0
// Of StagedFile: the thread that commits, and what becomes of staged names when it has.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "staging/cluster_cut.h"
#include "staging/recovery.h"
#include "staging/staged_file.h"

namespace tfilefs {

using tfile::fail;
using Clock = StagedNode::Clock;

Result<> StagedFile::commit(const NodePtr& directory) {
  wait_for_releases(directory);
  auto done = commit_pass(Occasion::quiet);
  TRY_VOID(sync_below(directory));
  return done;
}

namespace {

bool is_closing(const StagedNode& node) {
  if (!node.directory) return node.writers > 0 && node.flushed;
  return std::any_of(node.children.begin(), node.children.end(),
                     [](const auto& child) { return is_closing(*child.second); });
}

}  // namespace

// The kernel tells of a file's last close after close(2) has returned: what was closed just before is waited for.
void StagedFile::wait_for_releases(const NodePtr& directory) {
  constexpr std::chrono::milliseconds kPatience{1000};  // who has flushed and goes on writing is not waited for longer
  const auto deadline = Clock::now() + kPatience;
  const Lock lock(mutex_);
  while (is_closing(*directory) && Clock::now() < deadline) changed_.wait_for(mutex_, deadline - Clock::now());
}

// The thread ends when nothing is staged any more.
void StagedFile::run() {
  while (const auto occasion = wait_for_work()) {
    auto done = commit_pass(*occasion);
    if (!done) writing_.errors.add("/" + path_, done.error());
    const Lock lock(mutex_);
    last_pass_.failed = !done;
    if (!has_changes(*root_) && (there_ || !explicit_)) {
      running_ = false;
      return;
    }
  }
}

// Until it has been quiet for as long as a commit waits, or that time has passed. What was looked at in quiet is not
// looked at again before something has changed, or a failure may be over. Nothing: the end.
std::optional<StagedFile::Occasion> StagedFile::wait_for_work() {
  constexpr std::chrono::milliseconds kPauseMin{10};  // so that commit=0 does not look all the time
  constexpr std::chrono::milliseconds kPauseMax{1000};
  const std::chrono::milliseconds wait = writing_.options.commit;
  const Lock lock(mutex_);
  const auto tick = Clock::now() + std::max(wait, last_pass_.failed ? kPauseMax : kPauseMin);
  for (;;) {
    if (stopping_) return std::nullopt;
    const auto now = Clock::now();
    const bool quiet = now >= last_change_ + wait;
    const bool seen = last_pass_.quiet && !last_pass_.failed && last_change_ < last_pass_.begin;
    if (now >= tick && !seen) {
      last_pass_ = {now, quiet, false};
      return quiet ? Occasion::quiet : Occasion::busy;
    }
    changed_.wait_for(mutex_, now < tick ? tick - now : std::clamp<Clock::duration>(wait, kPauseMin, kPauseMax));
  }
}

// Branches go in one commit, and what is added to the others comes in the next.
Result<> StagedFile::commit_pass(Occasion occasion) {
  const Lock commit(commit_mutex_);
  bool again = true;
  for (int pass = 0; pass < 2 && again; ++pass) TRY_VOID(commit_once(occasion, again));
  return {};
}

// What is staged goes into the file as it was when it was staged. Where another program has written the file since, it
// still may, if nothing of it depends on what the file had.
Result<> StagedFile::follow_file() {
  TRY(const std::vector<std::byte> head, place_->head());
  bool rests = false;
  {
    const Lock lock(mutex_);
    if (is_same_head(basis_.head, head)) {
      committer_.follow(basis_.head);
      return {};
    }
    rests = rests_on_committed(*root_);
  }
  if (rests)
    return fail(ErrorKind::busy,
                "another program has written the file since: copy what is staged elsewhere, cut it off here (truncate "
                "columns to what is committed, remove what is new), and write it again");
  TRY(JournalBegin now, journal_begin());
  committer_.follow(now.head);
  const Lock lock(mutex_);
  basis_ = std::move(now);
  return {};
}

Result<> StagedFile::commit_once(Occasion occasion, bool& again) {
  {
    const Lock lock(mutex_);
    drop_unused(*root_);
  }
  if (auto followed = has_pending() ? follow_file() : Result<>(); !followed) {
    again = false;
    keep_reason(followed.error());
    return followed;
  }
  CommitWork planned = plan_work(occasion, again);
  if (planned.empty()) {
    trim_journal();
    return {};
  }
  hooks_.committing();
  committer_.make_as(owner());
  std::vector<std::byte> head;
  {
    const Lock lock(mutex_);
    head = basis_.head;
  }
  auto done = committer_.commit(planned, *journal(), head, hooks_.switching);
  if (!done) {
    hooks_.failed();
    keep_error(planned, done.error());
  } else {
    {
      const Lock lock(mutex_);
      there_ = true;
      basis_.head = std::move(head);
    }
    settle(planned);
    hooks_.published();  // who has waited for it finds the names that are committed now
  }
  release(planned);
  if (!done) return done;
  trim_journal();
  note_done();
  return {};
}

// A journal that stays knows by itself that the commit took place, whatever other programs make of the file.
void StagedFile::note_done() {
  const Lock change(change_mutex_);
  if (journal_) (void)journal_->append({.kind = JournalKind::done});
}

// Whether clusters can be cut while the table is still written: its columns grow together (one alone may only be the
// first of many), and there is enough of them.
bool StagedFile::grows_in_step(const StagedTable& table, const TableProgress& progress) const {
  std::uint64_t staged = 0;
  for (const StagedColumn& column : table.columns) staged += column.size - std::min(column.size, column.base);
  return table.removed.empty() && progress.branches.size() > 1 && in_step(progress.branches) &&
         staged >= 2 * writing_.options.autoflush;
}

// What is whole now; nobody changes it until release().
CommitWork StagedFile::plan_work(Occasion occasion, bool& again) {
  again = false;
  StagedChanges changes;
  {
    const Lock change(change_mutex_);  // what is frozen keeps its name
    const Lock lock(mutex_);
    changes = staged_changes(root_);
    // An empty file, an empty directory: only when nothing more can come.
    changes.rest.make_file = occasion == Occasion::last && !there_ && explicit_;
    for (StagedTable& table : changes.tables) {
      for (StagedColumn& column : table.columns) column.size = column.node->bytes->freeze();
    }
    for (StagedArrow& file : changes.arrows) file.size = file.node->bytes->freeze(true);
  }
  CommitWork work = std::move(changes.rest);
  Reasons reasons;
  for (StagedChanges::Misplaced& file : changes.misplaced) {
    reasons[std::move(file.path)] = {file.waits ? "a list without offsets, or a table: offsets.i8, another column "
                                                  "beside it, or a file named .table tells"
                                                : "no column of a table: its directory is one of the file"};
  }
  for (StagedTable& table : changes.tables) {
    if (!table.removed.empty() && !table.columns.empty()) {
      again = true;
      CommitWork later;
      later.tables.push_back({table});
      release(later);
      table.columns.clear();
    }
    for (StagedColumn& column : table.columns) read_npy_header(column);
    TableProgress done = progress(table);
    const bool whole = done.whole && occasion != Occasion::busy;
    if (!done.whole) reasons[table.path] = std::move(done.reasons);
    const bool clusters = !whole && done.can_be_cut && grows_in_step(table, done);
    CommitWork one;
    one.tables.push_back({std::move(table), done.entries, whole});
    if (whole || clusters) {
      work.tables.push_back(std::move(one.tables[0]));
    } else {
      release(one);
    }
  }
  plan_arrows(changes, occasion, reasons, work);
  if (occasion == Occasion::busy) {
    // Who is still writing may go on to remove, or to rename.
    work.removed.clear();
    work.renamed.clear();
    work.moved.clear();
    work.hidden.clear();
  }
  keep_needed_directories(work, occasion == Occasion::last);
  const Lock lock(mutex_);
  reasons_ = std::move(reasons);
  return work;
}

TableProgress StagedFile::progress(StagedTable& table) {
  if (!table.committed) return progress_of(table, nullptr);
  auto committed = committer_.committed_table(table.committed_path);
  if (committed) return progress_of(table, *committed);
  TableProgress none;
  none.reasons.push_back(committed.error().text);
  return none;
}

void StagedFile::release(const CommitWork& work) {
  for (const CommitWork::Table& table : work.tables) {
    if (table.staged.arrow_size) table.staged.node->bytes->thaw();
    for (const StagedColumn& column : table.staged.columns) column.node->bytes->thaw();
  }
}

// Staged names give way to committed ones. What was opened before reads on from what was staged.
void StagedFile::settle(const CommitWork& work) {
  const Lock lock(mutex_);
  ++commits_;
  for (const auto& [node, name] : work.hidden) node->hidden.erase(name);
  // Before anything below them is committed under their new names, and they with it.
  for (const NodePtr& node : work.moved) {
    if (const NodePtr parent = node->parent.lock()) parent->hidden.erase(node->base_name);
  }
  for (const NodePtr& node : work.moved) became_committed(node);
  for (const NodePtr& node : work.made) became_committed(node);
  for (const CommitWork::Table& table : work.tables) {
    if (table.staged.arrow_size) {
      settle_arrow(table.staged.node);
      continue;
    }
    const NodePtr& node = table.staged.node;
    became_table(node);
    for (const std::string& name : table.staged.removed) node->hidden.erase(name);
    for (const StagedColumn& column : table.staged.columns) settle_column(column);
  }
}

void StagedFile::settle_column(const StagedColumn& column) {
  StagedNode& node = *column.node;
  const NodePtr parent = node.parent.lock();
  if (parent) became_committed(parent);  // the directories down to the column are committed with it
  if (node.gone) {                       // removed while it was committed: it goes with the next commit
    if (parent) parent->hidden.insert(node.name);
  } else if (node.writers == 0 && node.bytes->size() == column.done) {
    node.settled = true;
    detach(column.node);
  } else {
    node.base = column.done;
    node.continues = true;
    node.bytes->drop_before(column.done);
  }
}

// Before the file is left: what the last commit freed becomes gaps. What fails here costs some bytes of space.
void StagedFile::tidy() {
  const Lock commit(commit_mutex_);
  if (!committer_.is_untidy()) return;
  std::shared_ptr<Journal> journal;
  {
    const Lock change(change_mutex_);
    if (!journal_ && !begin_journal()) return;
    journal = journal_;
  }
  // Another program that has written the file since has seen to it.
  if (!follow_file() || !committer_.is_untidy()) return trim_journal();
  CommitWork nothing;
  std::vector<std::byte> head;
  hooks_.committing();
  if (auto done = committer_.commit(nothing, *journal, head, hooks_.switching); !done) {
    writing_.errors.add("/" + path_, done.error());
    hooks_.failed();
  } else {
    hooks_.published();
  }
  trim_journal();
}

// Of all that is staged.
void StagedFile::keep_reason(const Error& error) {
  const Lock lock(mutex_);
  const StagedChanges changes = staged_changes(root_);
  reasons_.clear();
  for (const StagedTable& table : changes.tables) reasons_[table.path] = {error.text};
  for (const StagedArrow& file : changes.arrows) reasons_[file.path] = {error.text};
  if (reasons_.empty()) reasons_[""] = {error.text};
}

void StagedFile::keep_error(const CommitWork& planned, const Error& error) {
  const Lock lock(mutex_);
  for (const CommitWork::Table& table : planned.tables) {
    reasons_[table.staged.path].push_back(error.text);
    for (const StagedColumn& column : table.staged.columns) column.node->error = error;
  }
}

std::vector<std::string> StagedFile::pending() const {
  const Lock lock(mutex_);
  std::vector<std::string> lines;
  for (const auto& [path, reasons] : reasons_) {
    for (const std::string& reason : reasons)
      lines.push_back((path_.empty() ? "" : path_ + "/") + path + ": " + reason);
  }
  return lines;
}

// Versioned as docs/semantics.md says. Writers wait for the lock: text is made without it.
std::string StagedFile::pending_json() const {
  StagedChanges changes;
  Reasons known;
  {
    const Lock lock(mutex_);
    changes = staged_changes(root_);
    known = reasons_;
  }
  nlohmann::json json = {{"tfilefs", 1}, {"tables", nlohmann::json::array()}};
  for (const StagedArrow& file : changes.arrows) {
    json["tables"].push_back({{"path", file.table},
                              {"committed", false},
                              {"arrow", {{"path", file.path}, {"size", file.size}, {"open", file.is_open}}},
                              {"columns", nlohmann::json::array()},
                              {"reasons", known[file.path]}});
  }
  for (const StagedTable& table : changes.tables) {
    nlohmann::json columns = nlohmann::json::array();
    for (const StagedColumn& column : table.columns) {
      columns.push_back({{"path", column.path},
                         {"size", column.size},
                         {"committed", column.base},
                         {"open", column.is_open},
                         {"committing", column.is_committing}});
    }
    json["tables"].push_back({{"path", table.path},
                              {"committed", table.committed},
                              {"columns", std::move(columns)},
                              {"reasons", known[table.path]}});
  }
  return json.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

// With nothing staged the journal has nothing to tell; else little that is not so any more.
void StagedFile::trim_journal() {
  const Lock change(change_mutex_);
  bool needed = false;
  {
    const Lock lock(mutex_);
    drop_unused(*root_);
    if (!journal_) return;
    needed = has_changes(*root_) || (explicit_ && !there_);
  }
  if (needed) {
    if (!is_worth_compacting()) return;
    if (auto done = compact_journal(); !done) {
      compact_at_ = 2 * journal_->size();
      writing_.errors.add("/" + path_, done.error());
    }
    return;
  }
  end_journal();
}

void StagedFile::end_journal() {
  if (auto removed = journal_->remove(); !removed) writing_.errors.add("/" + path_, removed.error());
  journal_.reset();
  const Lock lock(mutex_);
  forget_numbers(*root_);
}

}  // namespace tfilefs
