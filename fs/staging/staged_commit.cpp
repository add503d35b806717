// SPDX-License-Identifier: Apache-2.0
// Of StagedFile: the thread that commits, and what becomes of staged names when it has.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "staging/commit/cluster_cut.h"
#include "staging/staged_file.h"
#include "tfile/file.h"

namespace tfilefs {

using tfile::fail;
using Clock = StagedNode::Clock;

Result<> StagedFile::commit(const NodePtr& directory) {
  wait_for_releases(directory);
  std::string below;
  {
    const Lock lock(overlay_.mutex);
    below = staged_path(*directory);
  }
  auto done = commit_pass(Occasion::quiet, below);
  (void)find_reasons();  // for who asks next, though another commit may be under way by then
  TRY_VOID(changes_.sync_below(directory));
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
  const Lock lock(overlay_.mutex);
  while (is_closing(*directory) && Clock::now() < deadline)
    overlay_.changed.wait_for(overlay_.mutex, deadline - Clock::now());
}

void StagedFile::begin_thread() {
  const Lock lock(overlay_.mutex);
  if (running_) return;
  if (thread_.joinable()) thread_.join();  // it has ended by itself
  running_ = true;
  thread_ = std::thread([this] { run(); });
}

// The thread ends when nothing is staged any more.
void StagedFile::run() {
  while (const auto occasion = wait_for_work()) {
    auto done = commit_pass(*occasion);
    if (!done) overlay_.errors.add("/" + overlay_.file_path, done.error());
    const Lock lock(overlay_.mutex);
    last_pass_.failed = !done;
    if (!has_changes(*overlay_.root) && !has_set_aside(*overlay_.root) && (overlay_.there || !overlay_.made_by_name)) {
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
  // Who removes what goes as a whole, name by name, is done sooner than this after his last one, whatever commit= is.
  constexpr std::chrono::milliseconds kRemovalPause{1000};
  const std::chrono::milliseconds wait = writing_.options.commit;
  const Lock lock(overlay_.mutex);
  const auto tick = Clock::now() + std::max(wait, last_pass_.failed ? kPauseMax : kPauseMin);
  for (;;) {
    if (overlay_.ending) return std::nullopt;
    const auto now = Clock::now();
    const bool quiet =
        now >= overlay_.last_change + (has_set_aside(*overlay_.root) ? std::max(wait, kRemovalPause) : wait);
    const bool seen = last_pass_.quiet && !last_pass_.failed && overlay_.last_change < last_pass_.begin;
    if (now >= tick && !seen) {
      last_pass_ = {now, quiet, false};
      return quiet ? Occasion::quiet : Occasion::busy;
    }
    overlay_.changed.wait_for(overlay_.mutex,
                              now < tick ? tick - now : std::clamp<Clock::duration>(wait, kPauseMin, kPauseMax));
  }
}

namespace {
bool is_stale(const Result<>& done) { return !done && done.error().kind == ErrorKind::stale; }
}  // namespace

// Fields go in one commit, and what is added to the others comes in the next. What another program is just saving is
// waited for.
Result<> StagedFile::commit_pass(Occasion occasion, const std::string& below) {
  constexpr std::chrono::milliseconds kPatience{500}, kPause{10};
  {
    const Lock lock(overlay_.mutex);
    ++committing_;
    while (looking_ > 0) looked_.wait(overlay_.mutex);
  }
  const Lock commit(commit_mutex_);
  {
    const Lock lock(overlay_.mutex);
    failed_.clear();
  }
  Result<> done;
  bool again = true;
  for (int pass = 0; pass < 2 && again; ++pass) {
    auto once = commit_once(occasion, below, again);
    for (auto waited = kPause; is_stale(once) && committer_.is_settled() && waited < kPatience; waited += kPause) {
      std::this_thread::sleep_for(kPause);
      once = commit_once(occasion, below, again);
    }
    if (is_stale(once)) once = fail(ErrorKind::busy, once.error().text, -1, EBUSY);
    if (done) done = std::move(once);
  }
  const Lock lock(overlay_.mutex);
  --committing_;
  return done;
}

// What is staged goes into the file as it was when it was staged. Where another program has written the file since, it
// still may, if nothing of it depends on what the file had.
Result<> StagedFile::follow_file() {
  TRY(const std::vector<std::byte> head, place_->head());
  {
    const Lock lock(overlay_.mutex);
    if (is_same_head(overlay_.basis.head, head)) {
      committer_.follow(overlay_.basis.head);
      return {};
    }
  }
  std::shared_ptr<const tfile::File> file;
  if (auto source = place_->source()) {
    TRY(file, tfile::File::open(*std::move(source)));
  }
  TRY(const std::vector<std::byte> now, changes_.follow(file.get()));
  committer_.follow(now);
  return {};
}

// Of what goes as a whole, and was not removed as a whole.
void StagedFile::show_whole_keys(Occasion occasion) {
  std::vector<std::string> paths;
  {
    const Lock lock(overlay_.mutex);
    if (occasion != Occasion::busy) paths = put_back(*overlay_.root);
    drop_unused(*overlay_.root);
  }
  for (const std::string& path : paths)
    overlay_.errors.add("/" + joined_path(overlay_.file_path, path),
                        "files of it were removed and are there again: they go with its directory alone");
}

Result<> StagedFile::commit_once(Occasion occasion, const std::string& below, bool& again) {
  show_whole_keys(occasion);
  if (auto followed = overlay_.has_pending() ? follow_file() : Result<>(); !followed) {
    again = false;
    return followed;
  }
  CommitWork planned = plan_work(occasion, below, again);
  if (planned.empty()) {
    changes_.trim_journal(committer_.is_settled());
    return {};
  }
  auto done = commit_work(planned);
  const bool may_be_one = !done && done.error().kind != ErrorKind::busy && done.error().kind != ErrorKind::stale;
  if (may_be_one && !planned.tables.empty() && committer_.is_settled()) done = commit_parts(planned);
  release(planned);
  changes_.trim_journal(committer_.is_settled());
  return done;
}

Result<> StagedFile::commit_work(CommitWork& work) {
  hooks_.committing();
  committer_.make_as(overlay_.owner());
  std::vector<std::byte> head;
  {
    const Lock lock(overlay_.mutex);
    head = overlay_.basis.head;
  }
  if (auto done = committer_.commit(work, *changes_.journal(), head, hooks_.switching); !done) {
    hooks_.failed();
    if (done.error().kind != ErrorKind::stale) keep_error(work, done.error());  // else it is tried again
    return done;
  }
  {
    const Lock lock(overlay_.mutex);
    overlay_.there = true;
    overlay_.basis.head = std::move(head);
  }
  settle(work);
  hooks_.published();  // who has waited for it finds the names that are committed now
  changes_.note_done();
  return {};
}

namespace {

// What one of them needs, of the directories that all do.
void move_directories(CommitWork& from, const std::string& table, CommitWork& into) {
  const auto rest = std::stable_partition(from.directories.begin(), from.directories.end(), [&](const auto& directory) {
    return !table.starts_with(directory.path + "/");
  });
  std::move(rest, from.directories.end(), std::back_inserter(into.directories));
  from.directories.erase(rest, from.directories.end());
}

}  // namespace

// One table after the other, where all of them together failed: what is wrong with one is no other's fault. A directory
// that was made for one that failed is made for the next that needs it.
Result<> StagedFile::commit_parts(CommitWork& all) {
  std::vector<CommitWork::Table> tables = std::move(all.tables);
  all.tables.clear();
  {
    const Lock lock(overlay_.mutex);
    failed_.clear();
  }
  CommitWork needed;
  for (const CommitWork::Table& table : tables) move_directories(all, table.staged.path, needed);
  Result<> done = all.empty() ? Result<>() : commit_work(all);
  const bool rest_is_done = done.has_value();
  for (CommitWork::Table& table : tables) {
    CommitWork one;
    move_directories(needed, table.staged.path, one);
    one.tables.push_back(std::move(table));
    auto single = rest_is_done && committer_.is_settled() ? commit_work(one) : done;
    if (!single) std::ranges::move(one.directories, std::back_inserter(needed.directories));
    if (done) done = std::move(single);
    all.tables.push_back(std::move(one.tables[0]));  // to be released with the others
  }
  return done;
}

// Whether clusters can be cut while the table is still written: its columns grow together (one alone may only be the
// first of many), and there is enough of them.
bool StagedFile::grows_in_step(const StagedTable& table, const TableProgress& progress) const {
  std::uint64_t staged = 0;
  for (const StagedColumn& column : table.columns) staged += column.size - std::min(column.size, column.base);
  const bool has_npy = std::ranges::any_of(table.columns, [](const StagedColumn& each) { return each.header > 0; });
  return table.removed.empty() && !has_npy && progress.fields.size() > 1 && in_step(progress.fields) &&
         staged >= 2 * writing_.options.cluster_bytes;
}

// What is whole now; nobody changes it until release().
CommitWork StagedFile::plan_work(Occasion occasion, const std::string& below, bool& again) {
  again = false;
  StagedChanges changes;
  {
    const Lock change(changes_.mutex);  // what is frozen keeps its name
    const Lock lock(overlay_.mutex);
    changes = staged_changes(overlay_.root);
    // An empty file, an empty directory: only when nothing more can come.
    changes.rest.make_file = occasion == Occasion::last && !overlay_.there && overlay_.made_by_name;
    std::erase_if(changes.tables, [&](const StagedTable& table) { return !concerns(below, table.path); });
    for (StagedTable& table : changes.tables) {
      // A .npy file is committed as a whole, or not at all: behind its column it cannot go on.
      for (StagedColumn& column : table.columns) column.size = column.node->bytes->freeze(is_npy(column.path));
    }
    for (StagedArrow& file : changes.arrows) file.size = file.node->bytes->freeze(true);
  }
  CommitWork work = std::move(changes.rest);
  for (StagedTable& table : changes.tables) plan_table(std::move(table), occasion, again, work);
  if (occasion == Occasion::busy) {
    for (const StagedArrow& file : changes.arrows) file.node->bytes->thaw();
    if (!rests_on_names(work)) {  // who is still writing may go on to remove, or to rename
      work.removed.clear();
      work.renamed.clear();
      work.moved.clear();
      work.hidden.clear();
    }
  } else {
    plan_arrows(changes, below, work);
  }
  keep_needed_directories(work, occasion == Occasion::last);
  return work;
}

void StagedFile::plan_table(StagedTable table, Occasion occasion, bool& again, CommitWork& work) {
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
  // A name, and nothing in it that could still come.
  const bool stays_empty = occasion == Occasion::last && table.forced && !table.committed && table.columns.empty();
  const bool whole = (done.whole && occasion != Occasion::busy) || (stays_empty && table.refused.empty());
  const bool clusters = !whole && done.can_be_cut && grows_in_step(table, done);
  CommitWork one;
  one.tables.push_back({std::move(table), done.entries, whole});
  if (whole || clusters) {
    work.tables.push_back(std::move(one.tables[0]));
  } else {
    release(one);
  }
}

// Of those files that nobody writes any more: what is whole is committed with the tables.
void StagedFile::plan_arrows(const StagedChanges& changes, const std::string& below, CommitWork& work) {
  for (const StagedArrow& file : changes.arrows) {
    auto table =
        concerns(below, file.table) ? whole_arrow(file) : Result<StagedTable>(fail(ErrorKind::busy, "not now"));
    if (table) {
      const std::int64_t entries = progress_of(*table, nullptr).entries;
      work.tables.push_back({*std::move(table), entries, true});
    } else {
      file.node->bytes->thaw();
    }
  }
}

Result<StagedTable> StagedFile::whole_arrow(const StagedArrow& file) {
  if (file.is_open) return fail(ErrorKind::busy, "open for writing");
  if (is_taken(file)) return fail(ErrorKind::exists, "there is " + file.table + " already");
  return arrow_table(file, writing_.memory);
}

// Another table of that name, staged or committed.
bool StagedFile::is_taken(const StagedArrow& file) {
  bool there = false;
  {
    const Lock lock(overlay_.mutex);
    if (node_at(overlay_.root, file.table)) return true;
    there = overlay_.there;
  }
  if (!there) return false;
  const auto committed = committer_.committed_table(file.table);
  return committed || committed.error().kind != ErrorKind::not_found;
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
  const Lock lock(overlay_.mutex);
  ++overlay_.settled_commits;
  for (const auto& [node, name] : work.hidden) node->hidden.erase(name);
  // Before anything below them is committed under their new names, and they with it.
  for (const NodePtr& node : work.moved) {
    if (const NodePtr parent = node->parent.lock()) parent->hidden.erase(node->base_name);
  }
  for (const NodePtr& node : work.moved) became_committed(node);
  for (const CommitWork::Directory& made : work.directories) became_committed(made.node);
  for (const CommitWork::Table& table : work.tables) {
    if (table.staged.arrow_size) {
      settle_whole(table.staged.node);
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
  if (column.header > 0 && !node.gone) return settle_whole(column.node);
  if (node.gone) {  // removed while it was committed: it goes with the next commit
    if (parent) parent->hidden.insert(node.name);
  } else if (node.writers == 0 && node.bytes->size() == column.done && !node.bytes->is_cut()) {
    node.settled = true;
    detach(column.node);
  } else {
    node.base = column.done;
    node.continues = true;
    node.bytes->drop_before(column.done);
  }
}

void StagedFile::settle_whole(const NodePtr& file) {
  StagedNode& node = *file;
  if (const NodePtr parent = node.parent.lock()) became_committed(parent);
  node.settled = true;
  detach(file);
  // Whoever opened it while it was committed writes into nothing.
  if (node.writers > 0) node.error = Error{ErrorKind::stale, "committed while it was open", -1, ESTALE};
}

// Before the file is left: what the last commit freed becomes gaps. What fails here costs some bytes of space.
void StagedFile::tidy() {
  const Lock commit(commit_mutex_);
  if (!committer_.is_untidy()) return;
  const std::shared_ptr<Journal> journal = changes_.want_journal();
  if (!journal) return;
  // Another program that has written the file since has seen to it.
  if (!follow_file() || !committer_.is_untidy()) return changes_.trim_journal(committer_.is_settled());
  CommitWork nothing;
  std::vector<std::byte> head;
  hooks_.committing();
  if (auto done = committer_.commit(nothing, *journal, head, hooks_.switching); !done) {
    overlay_.errors.add("/" + overlay_.file_path, done.error());
    hooks_.failed();
  } else {
    hooks_.published();
  }
  changes_.trim_journal(committer_.is_settled());
}

// What was removed takes no room any more. A commit under way looks after that itself.
void StagedFile::free_journal() {
  if (is_committing()) return;
  const Lock commit(commit_mutex_);
  changes_.note_freed();
  changes_.trim_journal(committer_.is_settled());
}

}  // namespace tfilefs
