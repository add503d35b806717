// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cache/cluster_cache.h"
#include "error_log.h"
#include "mutex.h"
#include "staging/changes/changes.h"
#include "staging/commit/committer.h"
#include "staging/commit/table_progress.h"
#include "staging/journal/file_place.h"
#include "staging/overlay/overlay.h"
#include "staging/overlay/staging_memory.h"
#include "steady_clock.h"

namespace tfilefs {

// Shared by all files that a mount writes. Outlives them.
struct Writing {
  WriteOptions options;
  StagingMemory memory;
  ClusterCache& cache;  // for its threads
  ErrorLog& errors;
  SteadyClock& clock;
};

// Commits the overlay of a file to the file: when, which contents are complete, and why the others are not. One commit
// after the other, on the file's own thread or that of a request. Thread-safe; every function but bytes_left() blocks.
class Commits {
 public:
  // Called by the committing thread, without Overlay::mutex_: `committing` before the file changes; `switching` before
  // readers could see a change; `published` after the commit, when committed names have replaced staged ones; `failed`
  // after a failure.
  struct Hooks {
    std::function<void()> committing, switching, published, failed;
  };
  Commits(Overlay&, Changes&, Writing&, std::shared_ptr<const FilePlace>, Hooks);

  // ---- commits

  // A change is about to be made: starts the file's own thread unless it runs. It commits complete contents after some
  // time without changes, and ends when nothing is staged any more.
  void begin_thread() EXCLUDES(overlay_);
  // Commits the complete contents below the directory, and removals and renames in the file; the rest is written to the
  // journal and synced. Errors: those of the commit, or of the journal; busy if another program is writing the file.
  Result<> commit(const NodePtr& directory) EXCLUDES(mutex, overlay_);
  // Commits all complete contents, once, and ends the thread. The rest is in the journal, and no more changes are
  // accepted. A second call does nothing.
  void stop() EXCLUDES(mutex, overlay_);
  // Bytes that the current commit has still to encode.
  std::uint64_t bytes_left() const { return left_.load(std::memory_order_relaxed); }

  // ---- between commits

  // Staged contents are committed to the state of the file on which they are based. If another program has written the
  // file since, they are rebased, provided that none of them depends on its former contents. Errors: busy (some do),
  // those of the file.
  Result<> follow_file() REQUIRES(mutex) EXCLUDES(overlay_);
  // Frees the room in the journal of removed contents. If a commit is under way, it does that itself.
  void free_journal() EXCLUDES(mutex, overlay_);
  // After Changes::rest() and claim(): allows changes again.
  void unclaim() EXCLUDES(mutex, overlay_);
  // The file was removed by its name: the staged contents are dropped. Later changes are stale.
  void forget() EXCLUDES(mutex, overlay_);
  // The same on request. Error: busy, if something staged was taken over from a crashed writer, who was promised it.
  Result<> discard() EXCLUDES(mutex, overlay_);

  // ---- what is not committed (reasons.cpp)

  // .pending.json: the staged contents, and why they cannot be committed now; and the single reasons. While a commit is
  // under way, or waited for, both give the reasons found last; they never wait for a commit that began after the call.
  Result<std::string> pending_json() EXCLUDES(mutex, overlay_);
  struct Pending {
    std::string path, reason;  // in the mount, from its root
  };
  std::vector<Pending> pending() EXCLUDES(mutex, overlay_);

  // Serializes commits; before Changes::mutex and Overlay::mutex_. While it is held none is under way.
  Mutex mutex{"Commits::mutex",
              "Changes::mutex, Overlay::mutex_, MountedFile::mutex_, Generation::mutex_, StagingMemory::mutex_, "
              "StagedBytes::mutex_, Journal::append_mutex_, Journal::state_mutex_, RootFile::class_infos_mutex_, "
              "TreeTable::lists_mutex_, SharedEnds::mutex_, SerialQueues::mutex_, ThreadPool::mutex_, Budget::mutex_, "
              "ErrorLog::mutex_, Log::mutex_, TableTrials::mutex_, a read"};

 private:
  // The contents that a pass may commit: only clusters of tables that are still being written; complete ones; or also
  // those that are complete only because nothing more can come.
  enum class Phase : std::uint8_t { written, quiet, last };
  void wait_for_releases(const NodePtr& directory) EXCLUDES(overlay_);
  void run() EXCLUDES(mutex, overlay_);
  std::optional<Phase> wait_for_work() EXCLUDES(overlay_);
  // `below`: a path; of tables those below it, or that contain it.
  Result<> commit_pass(Phase, const std::string& below = "") EXCLUDES(mutex, overlay_);
  Result<> commit_once(Phase, const std::string& below, bool& again) REQUIRES(mutex) EXCLUDES(overlay_);
  Result<> commit_work(CommitWork&) REQUIRES(mutex) EXCLUDES(overlay_);
  Result<> commit_parts(CommitWork&) REQUIRES(mutex) EXCLUDES(overlay_);
  Result<> commit_objects(CommitWork& needed, std::vector<StagedObject>) REQUIRES(mutex) EXCLUDES(overlay_);
  void drop_all() REQUIRES(mutex) EXCLUDES(overlay_);
  void show_whole_keys(Phase) EXCLUDES(overlay_);
  void tidy() EXCLUDES(mutex, overlay_);
  bool is_committing() const EXCLUDES(overlay_);

  // The choice of what is committed, and the update of the overlay (commit_plan.cpp).
  CommitWork plan_work(Phase, const std::string& below, bool& again) REQUIRES(mutex) EXCLUDES(overlay_);
  void plan_table(StagedTable, Phase, bool& again, CommitWork&) REQUIRES(mutex) EXCLUDES(overlay_);
  void plan_arrows(const StagedChanges&, const std::string& below, CommitWork&) REQUIRES(mutex) EXCLUDES(overlay_);
  void plan_objects(std::vector<StagedObject>, CommitWork&) REQUIRES(mutex) EXCLUDES(overlay_);
  bool grows_in_step(const StagedTable&, const TableProgress&) const;
  TableProgress progress(StagedTable&) REQUIRES(mutex);
  Result<StagedTable> whole_arrow(const StagedArrow&) REQUIRES(mutex) EXCLUDES(overlay_);
  bool is_taken(const StagedArrow&) REQUIRES(mutex) EXCLUDES(overlay_);
  void release(const CommitWork&) EXCLUDES(overlay_);
  void settle(const CommitWork&) EXCLUDES(overlay_);
  void settle_column(const StagedColumn&) REQUIRES(overlay_);
  void settle_object(const StagedObject&) REQUIRES(overlay_);
  void settle_whole(const NodePtr& file) REQUIRES(overlay_);  // an Arrow file, or a .npy file

  using Reasons = std::map<std::string, std::vector<std::string>>;  // by path
  Reasons reasons() EXCLUDES(mutex, overlay_);
  Reasons find_reasons() EXCLUDES(mutex, overlay_);
  Reasons look_for_reasons() REQUIRES(mutex) EXCLUDES(overlay_);
  void keep_error(const CommitWork&, const Error&) REQUIRES(mutex) EXCLUDES(overlay_);
  void tell(const std::string& path, const std::vector<std::string>& hopeless) REQUIRES(mutex);
  void tell_lost_classes(const CommitWork&) EXCLUDES(overlay_);
  void tell_misplaced(const StagedChanges&, const std::string& below) REQUIRES(mutex);

  Overlay& overlay_;
  Changes& changes_;
  Writing& writing_;
  const std::shared_ptr<const FilePlace> place_;
  const Hooks hooks_;

  std::atomic<std::uint64_t> left_ = 0;
  Committer committer_ GUARDED_BY(mutex);
  struct Failure {
    std::string text;
    SteadyClock::Time at;
  };
  std::map<std::string, Failure> failed_ GUARDED_BY(mutex);  // failed commits, by the path of what was to be committed
  std::set<std::string> told_ GUARDED_BY(mutex);             // hopeless reasons that were reported, with their paths

  // A look at these and at the tree is one step: so a request for reasons waits for no commit, and the thread ends only
  // when nothing is staged.
  int committing_ GUARDED_BY(overlay_) = 0;  // threads that have `mutex`, perhaps for long, or want it to commit
  int looking_ GUARDED_BY(overlay_) = 0;     // number of looks for reasons that began before any of these came
  Condition looked_;
  Condition ended_;                     // lock->ending was set
  Reasons known_ GUARDED_BY(overlay_);  // reasons found by the last look
  struct Pass {
    SteadyClock::Time begin{};
    bool quiet = false, failed = false;
  };
  Pass last_pass_ GUARDED_BY(overlay_);  // of the thread
  bool running_ GUARDED_BY(overlay_) = false;
  std::thread thread_ GUARDED_BY(overlay_);
};

}  // namespace tfilefs
