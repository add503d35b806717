// SPDX-License-Identifier: Apache-2.0
// When contents are committed, and by which thread.
#include "staging/commit/commits.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "log.h"
#include "printable.h"
#include "staging/overlay/staged_object.h"
#include "start_thread.h"
#include "tfile/file.h"
#include "told_names.h"

namespace tfilefs {

using tfile::fail;

Commits::Commits(Overlay& overlay, Changes& changes, Writing& writing, std::shared_ptr<const FilePlace> place,
                 Hooks hooks)
    : overlay_(overlay),
      changes_(changes),
      writing_(writing),
      place_(std::move(place)),
      hooks_(std::move(hooks)),
      committer_(writing.options, writing.cache, place_, left_) {}

void Commits::begin_thread() {
  {
    const Overlay::Locked lock(overlay_);
    if (running_) return;
    if (thread_.joinable()) thread_.join();  // it has ended by itself
    running_ = start_thread(thread_, overlay_.clock.counted([this] { run(); }));
    if (running_) return;
  }
  // The next change tries again. What is staged is committed when that is asked for, or at the end.
  overlay_.errors.add("/" + overlay_.file_path, "no thread could be created to commit what is written");
}

Result<> Commits::commit(const NodePtr& directory) {
  wait_for_releases(directory);
  std::string below;
  {
    const Overlay::Locked lock(overlay_);
    below = staged_path(*directory);
  }
  auto done = commit_pass(Phase::quiet, below);
  (void)find_reasons();  // for the next request, though another commit may be under way by then
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

// The kernel reports the last close of a file only after close(2) has returned, so this waits for files just closed.
void Commits::wait_for_releases(const NodePtr& directory) {
  constexpr std::chrono::milliseconds kPatience{1000};  // no longer, for programs that flush and go on writing
  SteadyClock& clock = overlay_.clock;
  const auto deadline = clock.now() + kPatience;
  const Overlay::Locked lock(overlay_);
  while (is_closing(*directory) && clock.now() < deadline) lock.wait_until(overlay_.changed, deadline);
}

// Ends when nothing is staged any more.
void Commits::run() {
  while (const auto phase = wait_for_work()) {
    auto done = commit_pass(*phase);
    if (!done) overlay_.errors.add("/" + overlay_.file_path, done.error());
    const Overlay::Locked lock(overlay_);
    last_pass_.failed = !done;
    if (!has_changes(*overlay_.root) && !has_set_aside(*overlay_.root) && (lock->there || !lock->made_by_name)) {
      running_ = false;
      return;
    }
  }
}

// Waits until there were no changes for as long as a commit waits, or that time has passed. Contents seen without
// changes are not looked at again before something has changed, or a failure may be over. Nothing: the thread ends.
std::optional<Commits::Phase> Commits::wait_for_work() {
  constexpr std::chrono::milliseconds kPauseMin{10};  // so that commit=0 does not look all the time
  constexpr std::chrono::milliseconds kPauseMax{1000};
  // A program that removes a thing name by name, or copies an object file by file, is done sooner than this after its
  // last name, whatever commit= is.
  constexpr std::chrono::milliseconds kNamesPause{1000};
  const std::chrono::milliseconds wait = writing_.options.commit;
  SteadyClock& clock = overlay_.clock;
  const Overlay::Locked lock(overlay_);
  const auto tick = clock.now() + std::max(wait, last_pass_.failed ? kPauseMax : kPauseMin);
  for (;;) {
    if (lock->ending) return std::nullopt;
    const auto now = clock.now();
    if (now < tick) {
      lock.wait_until(ended_, tick);  // not for each change: that would cost more than the change
      continue;
    }
    const bool waits_longer = has_set_aside(*overlay_.root) || holds_objects(*overlay_.root);
    const bool quiet = now >= lock->last_change + (waits_longer ? std::max(wait, kNamesPause) : wait);
    const bool seen = last_pass_.quiet && !last_pass_.failed && lock->last_change < last_pass_.begin;
    if (!seen) {
      last_pass_ = {now, quiet, false};
      return quiet ? Phase::quiet : Phase::written;
    }
    lock.wait_until(overlay_.changed, now + std::clamp(wait, kPauseMin, kPauseMax));
  }
}

namespace {
bool is_stale(const Result<>& done) { return !done && done.error().kind == ErrorKind::stale; }
}  // namespace

// Dropped fields go in one commit, and additions to the others in a second one. If another program is just saving the
// file, the pass is tried again.
Result<> Commits::commit_pass(Phase phase, const std::string& below) {
  constexpr std::chrono::milliseconds kPatience{500}, kPause{10};
  {
    const Overlay::Locked lock(overlay_);
    ++committing_;
    while (looking_ > 0) lock.wait(looked_);
  }
  const Lock commit(mutex);
  failed_.clear();
  Result<> done;
  bool again = true;
  for (int pass = 0; pass < 2 && again; ++pass) {
    auto once = commit_once(phase, below, again);
    for (auto waited = kPause; is_stale(once) && committer_.is_settled() && waited < kPatience; waited += kPause) {
      overlay_.clock.sleep_for(kPause);
      once = commit_once(phase, below, again);
    }
    if (is_stale(once)) once = busy(once.error().text);
    if (done) done = std::move(once);
  }
  const Overlay::Locked lock(overlay_);
  --committing_;
  return done;
}

// Shows the files again that can only go with a key that was not removed.
void Commits::show_whole_keys(Phase phase) {
  std::vector<std::string> paths;
  {
    const Overlay::Locked lock(overlay_);
    if (phase != Phase::written) paths = put_back(*overlay_.root);
    drop_unused(*overlay_.root);
  }
  for (const std::string& path : paths)
    overlay_.errors.add("/" + joined_path(overlay_.file_path, path),
                        "removed files of it are back: they can be removed only with its directory");
}

Result<> Commits::commit_once(Phase phase, const std::string& below, bool& again) {
  {
    const Overlay::Locked lock(overlay_);
    if (lock->resting) {
      again = false;
      if (!has_changes(*overlay_.root)) return {};
      return busy("the file is being renamed or removed");
    }
  }
  show_whole_keys(phase);
  auto followed = changes_.hold();
  if (followed && overlay_.has_pending()) followed = follow_file();
  if (!followed) {
    again = false;
    return followed;
  }
  CommitWork planned = plan_work(phase, below, again);
  if (planned.empty()) {
    changes_.trim_journal(committer_.is_settled());
    return {};
  }
  auto done = commit_work(planned);
  const bool one_table_may_be_at_fault =
      !done && done.error().kind != ErrorKind::busy && done.error().kind != ErrorKind::stale;
  const bool has_parts = !planned.tables.empty() || !planned.objects.empty();
  if (one_table_may_be_at_fault && has_parts && committer_.is_settled()) done = commit_parts(planned);
  release(planned);
  changes_.trim_journal(committer_.is_settled(), done.has_value());
  return done;
}

namespace {

// "committed Events (1000 entries), Runs (3 entries)"
std::string what_was_committed(const CommitWork& work) {
  ToldNames tables(5);
  for (const auto& table : work.tables)
    tables.add(table.staged.path + " (" + std::to_string(table.entries) + " entries)");
  std::string text = work.tables.empty() ? "committed" : "committed " + tables.text();
  if (!work.objects.empty())
    text += (work.tables.empty() ? " " : " and ") + std::to_string(work.objects.size()) + " objects";
  return work.tables.empty() && work.objects.empty() ? text + " renames or removals" : text;
}

}  // namespace

Result<> Commits::commit_work(CommitWork& work) {
  hooks_.committing();
  committer_.make_as(overlay_.owner());
  std::vector<std::byte> head;
  {
    const Overlay::Locked lock(overlay_);
    head = lock->basis.head;
  }
  if (auto done = committer_.commit(work, *changes_.journal(), head, hooks_.switching); !done) {
    hooks_.failed();
    if (done.error().kind != ErrorKind::stale) keep_error(work, done.error());  // if stale, it is tried again
    return done;
  }
  {
    const Overlay::Locked lock(overlay_);
    lock->there = true;
    lock->basis.head = std::move(head);
  }
  tell_log(Severity::info, printable("/" + overlay_.file_path + ": " + what_was_committed(work)));
  settle(work);
  hooks_.published();  // requests that have waited for this find the committed names
  changes_.note_done();
  return {};
}

namespace {

// Moves the directories that one of the tables needs from those that all of them need.
void move_directories(CommitWork& from, const std::string& table, CommitWork& into) {
  const auto rest = std::stable_partition(from.directories.begin(), from.directories.end(), [&](const auto& directory) {
    return !table.starts_with(directory.path + "/");
  });
  std::move(rest, from.directories.end(), std::back_inserter(into.directories));
  from.directories.erase(rest, from.directories.end());
}

}  // namespace

// If the tables fail together, they are committed one by one, so that an error in one does not affect the others. A
// directory that was to be made for a failed table is made for the next one that needs it.
Result<> Commits::commit_parts(CommitWork& all) {
  std::vector<CommitWork::Table> tables = std::move(all.tables);
  const std::vector<StagedObject> objects = std::exchange(all.objects, {});
  all.tables.clear();
  failed_.clear();
  CommitWork needed;
  for (const StagedObject& object : objects) move_directories(all, object.path, needed);
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
  all.objects = objects;  // to be released, too
  if (!rest_is_done || !committer_.is_settled()) return done;
  auto of_objects = commit_objects(needed, objects);
  return done ? of_objects : done;
}

// All together; if that fails, one by one.
Result<> Commits::commit_objects(CommitWork& needed, std::vector<StagedObject> objects) {
  if (objects.empty()) return {};
  const auto commit = [&](std::vector<StagedObject> some) REQUIRES(mutex) {
    CommitWork work;
    for (const StagedObject& object : some) move_directories(needed, object.path, work);
    work.objects = std::move(some);
    auto done = commit_work(work);
    if (!done) std::ranges::move(work.directories, std::back_inserter(needed.directories));
    return done;
  };
  auto together = commit(objects);
  if (together || objects.size() == 1 || !committer_.is_settled()) return together;
  failed_.clear();
  Result<> done;
  for (StagedObject& object : objects) {
    auto single = commit({std::move(object)});
    if (!single && done) done = std::move(single);
    if (!committer_.is_settled()) return done;
  }
  return done;
}

// Before the file is closed: the space freed by the last commit becomes gaps. A failure only wastes some bytes.
void Commits::tidy() {
  const Lock commit(mutex);
  if (!committer_.is_untidy()) return;
  const std::shared_ptr<Journal> journal = changes_.want_journal();
  if (!journal) return;
  // If another program has written the file since, it has taken care of that.
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

void Commits::stop() {
  std::thread ending;
  {
    const Lock change(changes_.mutex);  // a change that has begun is made first, and may begin the thread
    const Overlay::Locked lock(overlay_);
    if (!overlay_.end(lock)) return;
    ending.swap(thread_);
  }
  overlay_.changed.notify_all();
  ended_.notify_all();
  if (ending.joinable()) ending.join();
  if (!changes_.journal()) return tidy();
  changes_.drop_left_over();
  if (auto done = commit_pass(Phase::last); !done) overlay_.errors.add("/" + overlay_.file_path, done.error());
  // Incomplete contents are kept for the next mount, even if no program has called fsync.
  if (auto kept = changes_.sync_below(overlay_.root); !kept)
    overlay_.errors.add("/" + overlay_.file_path, kept.error());
  for (const auto& [path, reason] : pending()) overlay_.errors.add(path, "not committed: " + reason);
  tidy();
}

// ---- between commits

Result<> Commits::follow_file() {
  TRY(const std::vector<std::byte> head, place_->head());
  {
    const Overlay::Locked lock(overlay_);
    if (is_same_head(lock->basis.head, head)) {
      committer_.follow(lock->basis.head);
      return {};
    }
  }
  std::shared_ptr<const tfile::File> file;
  if (auto source = place_->source()) {
    TRY(file, tfile::File::open(*std::move(source)));
  }
  TRY_VOID(changes_.journal_cuts());
  TRY(const std::vector<std::byte> now, changes_.follow(file.get()));
  committer_.follow(now);
  return {};
}

void Commits::free_journal() {
  if (is_committing()) return;
  const Lock commit(mutex);
  changes_.note_freed();
  changes_.trim_journal(committer_.is_settled());
}

void Commits::unclaim() {
  const Lock commit(mutex);
  {
    const Overlay::Locked lock(overlay_);
    lock->resting = false;
  }
  changes_.trim_journal(committer_.is_settled());
}

void Commits::forget() {
  const Lock commit(mutex);
  drop_all();
}

Result<> Commits::discard() {
  const Lock commit(mutex);
  if (changes_.has_taken_over())
    return busy("not discarded: a part of what is staged was taken over from a mount that was killed");
  drop_all();
  return {};
}

void Commits::drop_all() {
  committer_.give_up();
  failed_.clear();
  changes_.forget();
}

}  // namespace tfilefs
