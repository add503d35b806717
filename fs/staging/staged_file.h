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

  // ---- of the file

  // The file is wanted whether or not anything is staged in it (mkdir). Changes nothing by itself; see make_directory.
  Result<> make(const FilePlace::Owner& maker) EXCLUDES(change_mutex_);
  Result<> change_owner(const FilePlace::Owner&, timespec modified) EXCLUDES(overlay_.mutex);
  // The committed file. Blocks. Error: not_found.
  Result<std::shared_ptr<const tfile::Source>> committed_source() const { return place_->source(); }
  // No other mount may write the file until forget() or unclaim(). Blocks. Errors: busy, denied, io.
  Result<> claim() EXCLUDES(change_mutex_);
  void unclaim() EXCLUDES(commit_mutex_, change_mutex_);
  // Whether nothing is staged, and nothing is until forget() or unclaim(): changes are EBUSY. Its path changes
  // meanwhile.
  bool rest() EXCLUDES(change_mutex_, overlay_.mutex);
  // It was taken away by its name: what is staged goes with it. Changes are stale from then on.
  void forget() EXCLUDES(commit_mutex_, change_mutex_, overlay_.mutex);

  // Changes of the tree. Whether a name is committed is the caller's to know.
  Result<NodePtr> make_directory(const NodePtr& in, std::string_view name, mode_t) EXCLUDES(change_mutex_);
  Result<NodePtr> make_file(const NodePtr& in, std::string_view name, mode_t) EXCLUDES(change_mutex_);
  // A committed column to which items are to be appended; the staged one behind it, if there is one. Error: stale: it
  // is not committed as was said, for a commit, or another program, has changed the file since.
  struct CommittedColumn {
    std::uint64_t size = 0;           // bytes
    std::span<const std::byte> head;  // with which the file begins, of which that was read
    std::uint64_t commits = 0;        // before it was looked at
    mode_t mode = 0;
  };
  Result<NodePtr> continue_file(const NodePtr& in, std::string_view name, const CommittedColumn&)
      EXCLUDES(commit_mutex_, change_mutex_, overlay_.mutex);
  // A committed name that goes with its key alone, as a file of an object does: it is hidden until the key is removed,
  // or a commit finds that it was not. Changes nothing of the file.
  Result<> set_aside(const NodePtr& in, std::string_view name) EXCLUDES(change_mutex_, overlay_.mutex);
  // A name in a directory, as it was looked at before it is changed. What changes it gives the error stale where a
  // commit has settled since: it is to be looked at again.
  struct Looked {
    NodePtr directory;
    std::string name;
    bool committed = false;     // something is, under this name
    std::uint64_t commits = 0;  // before it was looked at
  };
  // What is committed under the name goes with the next commit. A directory, and an Arrow file, is removed when no
  // commit is under way.
  Result<> remove(const Looked&) EXCLUDES(commit_mutex_, change_mutex_);
  // Of what is staged, or of a key within its own directory. Errors: exists, not_empty; EXDEV for a committed thing
  // that cannot move (mv then copies). A directory, an Arrow file, and what a commit reads, which knows it by its name,
  // is moved when no commit is under way.
  Result<> rename(const NodePtr& in, std::string_view name, const Looked& to, unsigned flags)
      EXCLUDES(commit_mutex_, change_mutex_);
  // Error: busy, where a commit reads what would be cut off (StagedBytes::when_thawed).
  Result<> truncate(const NodePtr&, std::uint64_t size) EXCLUDES(change_mutex_);
  Result<> set_title(const NodePtr&, std::string title) EXCLUDES(change_mutex_);

  // As the functions of these names (closed_check.h).
  bool is_to_be_checked(const StagedNode& node) const { return tfilefs::is_to_be_checked(overlay_, node); }
  Result<> check_closed(const NodePtr& node) { return tfilefs::check_closed(overlay_, node, writing_.memory); }

  // All that was written to the file is on disk.
  Result<> sync(const NodePtr&) EXCLUDES(overlay_.mutex);
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
  // The staged files of which bytes are neither in the file nor in the journal: lost if the mount ended now.
  struct Unkept {
    std::string path;         // in the mount, from its root
    bool is_written = false;  // a program has it open for writing, and the journal took what it was given last
  };
  std::vector<Unkept> unkept() EXCLUDES(change_mutex_, overlay_.mutex);
  // Bytes that the commit under way has still to encode.
  std::uint64_t bytes_left() const { return left_.load(std::memory_order_relaxed); }

 private:
  StagedFile(Writing&, FilePlace, std::string path, Hooks);
  Result<> replay() EXCLUDES(commit_mutex_, change_mutex_, overlay_.mutex);
  Result<> begin_journal() REQUIRES(change_mutex_);
  Result<> begin_change() REQUIRES(change_mutex_);
  void tidy() EXCLUDES(commit_mutex_, change_mutex_);
  Result<> note(const JournalRecord&) REQUIRES(change_mutex_);
  std::shared_ptr<StagedBytes> new_bytes(std::uint64_t id, std::uint64_t base, const std::shared_ptr<Journal>&) const;
  Result<NodePtr> stage_file(const NodePtr& in, std::string_view name, std::uint64_t base, mode_t, bool continues)
      REQUIRES(change_mutex_) EXCLUDES(overlay_.mutex);
  Result<> take_away(const Looked&) EXCLUDES(change_mutex_);
  Result<> move(const NodePtr& in, std::string_view name, const Looked& to, unsigned flags) REQUIRES(change_mutex_);
  Result<> check_move(const StagedNode&, const NodePtr& in, const Looked& to) const EXCLUDES(overlay_.mutex);
  Result<> check_look(const Looked&) const EXCLUDES(overlay_.mutex);
  std::optional<JournalRecord> removal_of(const StagedNode&) const EXCLUDES(overlay_.mutex);
  void wait_for_releases(const NodePtr& directory) EXCLUDES(overlay_.mutex);
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
  void drop_left_over() EXCLUDES(change_mutex_, overlay_.mutex);
  void note_done() EXCLUDES(change_mutex_);
  void end_journal() REQUIRES(change_mutex_) EXCLUDES(overlay_.mutex);
  void free_journal() EXCLUDES(commit_mutex_, change_mutex_, overlay_.mutex);
  void trim_journal() REQUIRES(commit_mutex_) EXCLUDES(change_mutex_, overlay_.mutex);
  Result<> compact_journal() REQUIRES(commit_mutex_, change_mutex_) EXCLUDES(overlay_.mutex);
  bool is_worth_compacting() const REQUIRES(change_mutex_) EXCLUDES(overlay_.mutex);
  Result<JournalBegin> journal_begin() const;
  Result<> check_basis(const CommittedColumn&) EXCLUDES(overlay_.mutex);
  Result<> follow_file() REQUIRES(commit_mutex_) EXCLUDES(change_mutex_, overlay_.mutex);
  Result<> sync_journal(const std::vector<NodePtr>&) EXCLUDES(change_mutex_, overlay_.mutex);
  Result<> sync_below(const NodePtr& directory) EXCLUDES(change_mutex_, overlay_.mutex);
  std::shared_ptr<Journal> journal() EXCLUDES(change_mutex_);
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

  // One change after the other, each in the journal before it is in the tree; before overlay_.mutex.
  Mutex change_mutex_;
  std::shared_ptr<Journal> journal_ GUARDED_BY(change_mutex_);
  std::uint64_t compact_at_ GUARDED_BY(change_mutex_) = 0;  // not below that many bytes: where it failed before

  std::atomic<std::uint64_t> left_ = 0;

  Mutex commit_mutex_;  // one commit after the other; before change_mutex_
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
