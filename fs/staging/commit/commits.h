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
#include "staging/commit/write_options.h"
#include "staging/journal/file_place.h"
#include "staging/overlay/overlay.h"
#include "staging/overlay/staging_memory.h"

namespace tfilefs {

// What all files that a mount writes share. Outlives them.
struct Writing {
  WriteOptions options;
  StagingMemory memory;
  ClusterCache& cache;  // for its threads
  ErrorLog& errors;
};

// What brings the overlay of a file into the file: when, what of it is whole, and why the rest is not. One commit after
// the other, by the file's own thread or by whoever asks for one. Thread-safe; every function but bytes_left() blocks.
class Commits {
 public:
  // Called by whoever commits, without Overlay::mutex: before the file changes; before readers could see some of that;
  // and after it, before staged names give way to committed ones; or when it failed.
  struct Hooks {
    std::function<void()> committing, switching, published, failed;
  };
  Commits(Overlay&, Changes&, Writing&, std::shared_ptr<const FilePlace>, Hooks);

  // ---- commits

  // A change is about to be made: the file's own thread begins, unless it is there. It commits what is whole after some
  // quiet, and ends when nothing is staged any more.
  void begin_thread() EXCLUDES(overlay_.mutex);
  // Commits what is whole below the directory, and what was removed and renamed in the file; the rest goes into the
  // journal, on disk. Errors: those of the commit, or of the journal; busy where another program writes the file.
  Result<> commit(const NodePtr& directory) EXCLUDES(mutex, overlay_.mutex);
  // Commits what is whole, once, and ends the thread. What stays pending is in the journal, and nothing is taken any
  // more. The second time nothing.
  void stop() EXCLUDES(mutex, overlay_.mutex);
  // Bytes that the commit under way has still to encode.
  std::uint64_t bytes_left() const { return left_.load(std::memory_order_relaxed); }

  // ---- between commits

  // What is staged goes into the file as it was when it was staged. Where another program has written the file since,
  // it still may, if nothing of it depends on what the file had. Errors: busy (something does), those of the file.
  Result<> follow_file() REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  // What was removed takes no room in the journal any more. A commit under way looks after that itself.
  void free_journal() EXCLUDES(mutex, overlay_.mutex);
  // After Changes::rest() and claim(): changes go on.
  void unclaim() EXCLUDES(mutex, overlay_.mutex);
  // The file was taken away by its name: what is staged goes with it. Changes are stale from then on.
  void forget() EXCLUDES(mutex, overlay_.mutex);

  // ---- what is not committed (reasons.cpp)

  // .pending.json: what is staged, and why it cannot be committed now. The reasons, one by one. While a commit is under
  // way, or waited for, both tell of the last look at the reasons; they never wait for one that began after they were
  // asked.
  Result<std::string> pending_json() EXCLUDES(mutex, overlay_.mutex);
  struct Pending {
    std::string path, reason;  // in the mount, from its root
  };
  std::vector<Pending> pending() EXCLUDES(mutex, overlay_.mutex);

  // One commit after the other; before Changes::mutex and Overlay::mutex. While it is held none is under way.
  Mutex mutex;

 private:
  // What a look at the staged tables may commit: only clusters of those that are still being written; or what is whole;
  // or also what can be no more than it is.
  enum class Phase : std::uint8_t { written, quiet, last };
  void wait_for_releases(const NodePtr& directory) EXCLUDES(overlay_.mutex);
  void run() EXCLUDES(mutex, overlay_.mutex);
  std::optional<Phase> wait_for_work() EXCLUDES(overlay_.mutex);
  // `below`: a path; of tables those in it, or that it lies in.
  Result<> commit_pass(Phase, const std::string& below = "") EXCLUDES(mutex, overlay_.mutex);
  Result<> commit_once(Phase, const std::string& below, bool& again) REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  Result<> commit_work(CommitWork&) REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  Result<> commit_parts(CommitWork&) REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  void show_whole_keys(Phase) EXCLUDES(overlay_.mutex);
  void tidy() EXCLUDES(mutex, overlay_.mutex);
  bool is_committing() const EXCLUDES(overlay_.mutex);

  // What is committed, and what becomes of it in the overlay (commit_plan.cpp).
  CommitWork plan_work(Phase, const std::string& below, bool& again) REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  void plan_table(StagedTable, Phase, bool& again, CommitWork&) REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  void plan_arrows(const StagedChanges&, const std::string& below, CommitWork&) REQUIRES(mutex)
      EXCLUDES(overlay_.mutex);
  bool grows_in_step(const StagedTable&, const TableProgress&) const;
  TableProgress progress(StagedTable&) REQUIRES(mutex);
  Result<StagedTable> whole_arrow(const StagedArrow&) REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  bool is_taken(const StagedArrow&) REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  void release(const CommitWork&) EXCLUDES(overlay_.mutex);
  void settle(const CommitWork&) EXCLUDES(overlay_.mutex);
  void settle_column(const StagedColumn&) REQUIRES(overlay_.mutex);
  void settle_whole(const NodePtr& file) REQUIRES(overlay_.mutex);  // an Arrow file, or a .npy file

  using Reasons = std::map<std::string, std::vector<std::string>>;  // by path
  Reasons reasons() EXCLUDES(mutex, overlay_.mutex);
  Reasons find_reasons() EXCLUDES(mutex, overlay_.mutex);
  Reasons look_for_reasons() REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  void keep_error(const CommitWork&, const Error&) REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  void tell(const std::string& path, const std::vector<std::string>& hopeless) REQUIRES(mutex);

  Overlay& overlay_;
  Changes& changes_;
  Writing& writing_;
  const std::shared_ptr<const FilePlace> place_;
  const Hooks hooks_;

  std::atomic<std::uint64_t> left_ = 0;
  Committer committer_ GUARDED_BY(mutex);
  struct Failure {
    std::string text;
    StagedNode::Clock::time_point at;
  };
  std::map<std::string, Failure> failed_ GUARDED_BY(mutex);  // commits, by what was to be committed: a path
  std::set<std::string> told_ GUARDED_BY(mutex);             // hopeless reasons, with their paths

  // Of these and of the tree a look is one step: who asks for reasons waits for no commit, and the thread ends only
  // when nothing is staged.
  int committing_ GUARDED_BY(overlay_.mutex) = 0;  // so many have `mutex`, maybe for long, or want it for a commit
  int looking_ GUARDED_BY(overlay_.mutex) = 0;     // for reasons, since before any of these came
  Condition looked_;
  Reasons known_ GUARDED_BY(overlay_.mutex);  // reasons, when last looked for
  struct Pass {
    StagedNode::Clock::time_point begin{};
    bool quiet = false, failed = false;
  };
  Pass last_pass_ GUARDED_BY(overlay_.mutex);  // of the thread
  bool running_ GUARDED_BY(overlay_.mutex) = false;
  std::thread thread_ GUARDED_BY(overlay_.mutex);
};

}  // namespace tfilefs
