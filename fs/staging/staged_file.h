// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cache/cluster_cache.h"
#include "content.h"
#include "error_log.h"
#include "mutex.h"
#include "staging/changes/changes.h"
#include "staging/commit/closed_check.h"
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

// A ROOT file being written: the tree of what is staged in it, its journal, and the thread that commits. Thread-safe.
// What changes the tree, `sync` and `commit` block; the rest never does.
class StagedFile : public std::enable_shared_from_this<StagedFile> {
 public:
  // Called by whoever commits: before the file changes; before readers could see some of that; and after it, before
  // staged names give way to committed ones; or when it failed.
  struct Hooks {
    std::function<void()> committing, switching, published, failed;
  };
  // `path`: in the mount, for messages. Takes over the journal of a writer that crashed, if there is one: blocks.
  // Errors: damaged, denied, busy (a journal of another file).
  static Result<std::shared_ptr<StagedFile>> open(Writing&, FilePlace, std::string path, Hooks);
  ~StagedFile();

  // ---- of Overlay: see there

  const NodePtr& root() const { return overlay_.root; }
  FilePlace::Owner owner() const { return overlay_.owner(); }
  bool is_there() const { return overlay_.is_there(); }
  bool has_pending() const { return overlay_.has_pending(); }
  bool is_wanted() const { return overlay_.is_wanted(); }
  bool is_forgotten() const { return overlay_.is_forgotten(); }
  std::uint64_t commits() const { return overlay_.commits(); }
  void note_there() { overlay_.note_there(); }
  StagedLook look(const StagedNode& directory, std::string_view name) const { return overlay_.look(directory, name); }
  using Listed = Overlay::Listed;
  using Listing = Overlay::Listing;
  Listing list(const StagedNode& directory) const { return overlay_.list(directory); }
  std::optional<std::vector<std::string>> committed_path(const StagedNode& directory) const {
    return overlay_.committed_path(directory);
  }
  StagedPlace place_of(const StagedNode& node) const { return overlay_.place_of(node); }
  StagedPlace committed_place_of(const StagedNode& node) const { return overlay_.committed_place_of(node); }
  NodePtr stand_over(const NodePtr& directory, std::string_view name, CommittedKind kind) {
    return overlay_.stand_over(directory, name, kind);
  }
  void leave(const NodePtr& node) { overlay_.leave(node); }
  using Status = Overlay::Status;
  Status status(const StagedNode& node) const { return overlay_.status(node); }
  void set_attributes(StagedNode& node, const std::function<void(StagedAttributes&)>& change) {
    overlay_.set_attributes(node, change);
  }
  bool is_settled(const StagedNode& node) const { return overlay_.is_settled(node); }
  bool waits_for_commit(const StagedNode& in, std::string_view name) const {
    return overlay_.waits_for_commit(in, name);
  }
  bool opened(StagedNode& node, bool to_write) { return overlay_.opened(node, to_write); }
  void closed(StagedNode& node) { overlay_.closed(node); }
  void written(StagedNode& node, std::uint64_t offset) { overlay_.written(node, offset); }
  void flushed(StagedNode& node) { overlay_.flushed(node); }
  std::optional<Error> take_error(StagedNode& node) { return overlay_.take_error(node); }

  // ---- of Changes: see there

  Result<> make(const FilePlace::Owner& maker) { return changes_.make(maker); }
  Result<> claim() { return changes_.claim(); }
  bool rest() { return changes_.rest(); }
  Result<NodePtr> make_directory(const NodePtr& in, std::string_view name, mode_t mode) {
    return changes_.make_directory(in, name, mode);
  }
  Result<NodePtr> make_file(const NodePtr& in, std::string_view name, mode_t mode) {
    return changes_.make_file(in, name, mode);
  }
  Result<> set_aside(const NodePtr& in, std::string_view name) { return changes_.set_aside(in, name); }
  using CommittedColumn = Changes::CommittedColumn;
  using Looked = Changes::Looked;
  Result<> truncate(const NodePtr& node, std::uint64_t size) { return changes_.truncate(node, size); }
  Result<> set_title(const NodePtr& node, std::string title) { return changes_.set_title(node, std::move(title)); }
  Result<> sync(const NodePtr& node) { return changes_.sync(node); }
  using Unkept = Changes::Unkept;
  std::vector<Unkept> unkept() { return changes_.unkept(); }

  // ---- changes beside commits

  // Lets changes go on after rest() and claim() where nothing came of them.
  void unclaim() EXCLUDES(commit_mutex_, changes_.mutex, overlay_.mutex);
  // It was taken away by its name: what is staged goes with it. Changes are stale from then on.
  void forget() EXCLUDES(commit_mutex_, changes_.mutex, overlay_.mutex);
  // As Changes::continue_file, what is staged following the file where another program has written that.
  Result<NodePtr> continue_file(const NodePtr& in, std::string_view name, const CommittedColumn&)
      EXCLUDES(commit_mutex_, changes_.mutex, overlay_.mutex);
  // As Changes::remove. A directory, and an Arrow file, is removed when no commit is under way.
  Result<> remove(const Looked&) EXCLUDES(commit_mutex_, changes_.mutex);
  // As Changes::rename (for EXDEV mv copies). A directory, an Arrow file, and what a commit reads, which knows it by
  // its name, is moved when no commit is under way.
  Result<> rename(const NodePtr& in, std::string_view name, const Looked& to, unsigned flags)
      EXCLUDES(commit_mutex_, changes_.mutex);

  // ---- of the file

  Result<> change_owner(const FilePlace::Owner&, timespec modified) EXCLUDES(overlay_.mutex);
  // The committed file. Blocks. Error: not_found.
  Result<std::shared_ptr<const tfile::Source>> committed_source() const { return place_->source(); }
  // As the functions of these names (closed_check.h).
  bool is_to_be_checked(const StagedNode& node) const { return tfilefs::is_to_be_checked(overlay_, node); }
  Result<> check_closed(const NodePtr& node) { return tfilefs::check_closed(overlay_, node, writing_.memory); }

  // Commits what is whole below the directory, and what was removed and renamed in the file; the rest goes into the
  // journal, on disk.
  Result<> commit(const NodePtr& directory) EXCLUDES(overlay_.mutex);
  // Commits what is whole, once, and ends the thread. What stays pending is in the journal, and nothing is taken any
  // more.
  void stop() EXCLUDES(overlay_.mutex);

  // .pending.json: what is staged, and why it cannot be committed now. The reasons, one by one. Both block.
  Result<std::string> pending_json() EXCLUDES(commit_mutex_, overlay_.mutex);
  struct Pending {
    std::string path, reason;  // in the mount, from its root
  };
  std::vector<Pending> pending() EXCLUDES(commit_mutex_, overlay_.mutex);
  // Bytes that the commit under way has still to encode.
  std::uint64_t bytes_left() const { return left_.load(std::memory_order_relaxed); }

 private:
  StagedFile(Writing&, FilePlace, std::string path, Hooks);
  void tidy() EXCLUDES(commit_mutex_, changes_.mutex);
  void wait_for_releases(const NodePtr& directory) EXCLUDES(overlay_.mutex);
  void begin_thread() EXCLUDES(overlay_.mutex);
  void run();
  // What a look at the staged tables may commit: only clusters of those that are still being written; or what is whole;
  // or also what can be no more than it is.
  enum class Occasion : std::uint8_t { busy, quiet, last };
  std::optional<Occasion> wait_for_work() EXCLUDES(overlay_.mutex);
  // `below`: a path; of tables those in it, or that it lies in.
  Result<> commit_pass(Occasion, const std::string& below = "") EXCLUDES(overlay_.mutex, commit_mutex_);
  Result<> commit_once(Occasion, const std::string& below, bool& again) REQUIRES(commit_mutex_)
      EXCLUDES(overlay_.mutex);
  CommitWork plan_work(Occasion, const std::string& below, bool& again) REQUIRES(commit_mutex_)
      EXCLUDES(overlay_.mutex);
  void plan_table(StagedTable, Occasion, bool& again, CommitWork&) REQUIRES(commit_mutex_) EXCLUDES(overlay_.mutex);
  Result<> commit_work(CommitWork&) REQUIRES(commit_mutex_) EXCLUDES(overlay_.mutex);
  Result<> commit_parts(CommitWork&) REQUIRES(commit_mutex_) EXCLUDES(overlay_.mutex);
  void show_whole_keys(Occasion) EXCLUDES(overlay_.mutex);
  bool grows_in_step(const StagedTable&, const TableProgress&) const;
  TableProgress progress(StagedTable&) REQUIRES(commit_mutex_);
  void release(const CommitWork&) EXCLUDES(overlay_.mutex);
  void settle(const CommitWork&) EXCLUDES(overlay_.mutex);
  void settle_column(const StagedColumn&) REQUIRES(overlay_.mutex);
  void keep_error(const CommitWork&, const Error&) EXCLUDES(overlay_.mutex);
  void tell(const std::string& path, const std::vector<std::string>& hopeless) EXCLUDES(overlay_.mutex);
  void free_journal() EXCLUDES(commit_mutex_, changes_.mutex, overlay_.mutex);
  Result<> follow_file() REQUIRES(commit_mutex_) EXCLUDES(changes_.mutex, overlay_.mutex);
  using Reasons = std::map<std::string, std::vector<std::string>>;  // by path
  Reasons reasons() EXCLUDES(commit_mutex_, overlay_.mutex);
  Reasons find_reasons() EXCLUDES(commit_mutex_, overlay_.mutex);
  Reasons look_for_reasons() REQUIRES(commit_mutex_) EXCLUDES(overlay_.mutex);
  bool is_committing() const EXCLUDES(overlay_.mutex);
  void plan_arrows(const StagedChanges&, const std::string& below, CommitWork&) REQUIRES(commit_mutex_)
      EXCLUDES(overlay_.mutex);
  Result<StagedTable> whole_arrow(const StagedArrow&) REQUIRES(commit_mutex_) EXCLUDES(overlay_.mutex);
  bool is_taken(const StagedArrow&) REQUIRES(commit_mutex_) EXCLUDES(overlay_.mutex);
  void settle_whole(const NodePtr& file) REQUIRES(overlay_.mutex);  // an Arrow file, or a .npy file

  Writing& writing_;
  const std::shared_ptr<const FilePlace> place_;
  const Hooks hooks_;
  Overlay overlay_;
  Changes changes_;

  std::atomic<std::uint64_t> left_ = 0;

  Mutex commit_mutex_;  // one commit after the other; before changes_.mutex
  Committer committer_ GUARDED_BY(commit_mutex_);

  // So many have commit_mutex_, maybe for long, or want it for a commit.
  int committing_ GUARDED_BY(overlay_.mutex) = 0;
  int looking_ GUARDED_BY(overlay_.mutex) = 0;  // for reasons, since before any of these came
  Condition looked_;
  Reasons known_ GUARDED_BY(overlay_.mutex);  // reasons, when last looked for
  struct Failure {
    std::string text;
    StagedNode::Clock::time_point at;
  };
  std::map<std::string, Failure> failed_ GUARDED_BY(overlay_.mutex);  // commits, by what was to be committed: a path
  std::set<std::string> told_ GUARDED_BY(overlay_.mutex);             // hopeless reasons, with their paths
  bool running_ GUARDED_BY(overlay_.mutex) = false;
  struct Pass {
    StagedNode::Clock::time_point begin{};
    bool quiet = false, failed = false;
  };
  Pass last_pass_ GUARDED_BY(overlay_.mutex);  // of the thread that commits
  std::thread thread_ GUARDED_BY(overlay_.mutex);
};

}  // namespace tfilefs
