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
#include "staging/commit/committer.h"
#include "staging/commit/table_progress.h"
#include "staging/commit/write_options.h"
#include "staging/journal/file_place.h"
#include "staging/overlay/staged_tree.h"
#include "staging/overlay/staging_memory.h"

namespace tfilefs {

// What all files that a mount writes share. Outlives them.
struct Writing {
  WriteOptions options;
  StagingMemory memory;
  ClusterCache& cache;  // for its threads
  ErrorLog& errors;
};

// A name in a directory.
struct StagedPlace {
  NodePtr directory;  // null: that is gone
  std::string name;
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

  const NodePtr& root() const { return root_; }
  // The file is wanted whether or not anything is staged in it (mkdir). Changes nothing by itself; see make_directory.
  Result<> make(const FilePlace::Owner& maker) EXCLUDES(change_mutex_);
  // Of the file, or of the one that will be made.
  FilePlace::Owner owner() const EXCLUDES(mutex_);
  Result<> change_owner(const FilePlace::Owner&, timespec modified) EXCLUDES(mutex_);
  // Whether the file exists on disk, committed at least once.
  bool is_there() const EXCLUDES(mutex_);
  // The committed file. Blocks. Error: not_found.
  Result<std::shared_ptr<const tfile::Source>> committed_source() const { return place_->source(); }
  // Whether anything is staged.
  bool has_pending() const EXCLUDES(mutex_);
  // Whether the file is there, or will be.
  bool is_wanted() const EXCLUDES(mutex_);
  // No other mount may write the file until forget() or unclaim(). Blocks. Errors: busy, denied, io.
  Result<> claim() EXCLUDES(change_mutex_);
  void unclaim() EXCLUDES(commit_mutex_, change_mutex_);
  // Whether nothing is staged, and nothing is until forget() or unclaim(): changes are EBUSY. Its path changes
  // meanwhile.
  bool rest() EXCLUDES(change_mutex_, mutex_);
  // It was taken away by its name: what is staged goes with it. Changes are stale from then on.
  void forget() EXCLUDES(commit_mutex_, change_mutex_, mutex_);
  bool is_forgotten() const EXCLUDES(mutex_);
  // A ROOT file was found under the name: another program, or a rename, has put it there since.
  void note_there() EXCLUDES(mutex_);

  StagedLook look(const StagedNode& directory, std::string_view name) const EXCLUDES(mutex_);
  struct Listed {
    std::string name, base_name;
    bool directory = false;
    NodePtr node;
  };
  struct Listing {
    std::vector<Listed> staged;
    std::set<std::string, std::less<>> hidden;
  };
  Listing list(const StagedNode& directory) const EXCLUDES(mutex_);
  std::optional<std::vector<std::string>> committed_path(const StagedNode& directory) const EXCLUDES(mutex_);
  std::string path(const StagedNode&) const EXCLUDES(mutex_);  // for messages, with the file's

  // The node of a committed directory, in which something may be staged.
  NodePtr stand_over(const NodePtr& directory, std::string_view name, CommittedKind) EXCLUDES(mutex_);
  // Nobody but the caller has it any more: it goes where nothing is staged in it.
  void leave(const NodePtr&) EXCLUDES(mutex_);

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
      EXCLUDES(commit_mutex_, change_mutex_, mutex_);
  // Commits that were settled since the mount began.
  std::uint64_t commits() const EXCLUDES(mutex_);
  // A committed name that goes with its key alone, as a file of an object does: it is hidden until the key is removed,
  // or a commit finds that it was not. Changes nothing of the file.
  Result<> set_aside(const NodePtr& in, std::string_view name) EXCLUDES(change_mutex_, mutex_);
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
  // Whether a change of that name waits for the commit that is under way, if one is.
  bool waits_for_commit(const StagedNode& in, std::string_view name) const EXCLUDES(mutex_);
  // Error: busy, where a commit reads what would be cut off (StagedBytes::when_thawed).
  Result<> truncate(const NodePtr&, std::uint64_t size) EXCLUDES(change_mutex_);
  Result<> set_title(const NodePtr&, std::string title) EXCLUDES(change_mutex_);

  // Of a file or directory that is staged.
  struct Status {
    StagedAttributes attributes;
    std::uint64_t size = 0;
    std::uint64_t base = 0;
    bool has_children = false;
    bool is_committed = false;  // a directory that the committed state knows
    bool is_object = false;     // StagedNode::is_object
  };
  Status status(const StagedNode&) const EXCLUDES(mutex_);
  void set_attributes(StagedNode&, const std::function<void(StagedAttributes&)>&) EXCLUDES(mutex_);

  // Handles that are open for writing.
  // False: it is committed, or removed, and has to be looked up again.
  bool opened(StagedNode&, bool to_write) EXCLUDES(mutex_);
  void closed(StagedNode&) EXCLUDES(mutex_);
  void written(StagedNode&, std::uint64_t offset) EXCLUDES(mutex_);  // bytes from there on have changed
  void flushed(StagedNode&) EXCLUDES(mutex_);
  bool is_open_to_write(const StagedNode&) const EXCLUDES(mutex_);
  // Whether what the file holds tells if it can ever be committed (NAME.arrow, offsets, NAME.npy); and whether it can.
  // The second blocks. Error: invalid.
  bool is_to_be_checked(const StagedNode&) const EXCLUDES(mutex_);
  Result<> check_closed(const NodePtr&) EXCLUDES(mutex_);
  std::optional<Error> take_error(StagedNode&) EXCLUDES(mutex_);
  // Whether it gave way to a committed column; and where it stands, or stood.
  bool is_settled(const StagedNode&) const EXCLUDES(mutex_);
  StagedPlace place_of(const StagedNode&) const EXCLUDES(mutex_);
  // Where the committed state knows a directory: no directory where it does not, and of the root.
  StagedPlace committed_place_of(const StagedNode&) const EXCLUDES(mutex_);

  // All that was written to the file is on disk.
  Result<> sync(const NodePtr&) EXCLUDES(mutex_);
  // Commits what is whole below the directory, and what was removed and renamed in the file; the rest goes into the
  // journal, on disk.
  Result<> commit(const NodePtr& directory) EXCLUDES(mutex_);
  // Commits what is whole, once, and ends the thread. What stays pending is in the journal, and nothing is taken any
  // more.
  void stop() EXCLUDES(mutex_);

  // .pending.json: what is staged, and why it cannot be committed now. The reasons, one by one. Both block.
  Result<std::string> pending_json() EXCLUDES(commit_mutex_, mutex_);
  struct Pending {
    std::string path, reason;  // in the mount, from its root
  };
  std::vector<Pending> pending() EXCLUDES(commit_mutex_, mutex_);
  // The staged files of which bytes are neither in the file nor in the journal: lost if the mount ended now.
  struct Unkept {
    std::string path;         // in the mount, from its root
    bool is_written = false;  // a program has it open for writing, and the journal took what it was given last
  };
  std::vector<Unkept> unkept() EXCLUDES(change_mutex_, mutex_);
  // Bytes that the commit under way has still to encode.
  std::uint64_t bytes_left() const { return left_.load(std::memory_order_relaxed); }

 private:
  StagedFile(Writing&, FilePlace, std::string path, Hooks);
  Result<> replay() EXCLUDES(commit_mutex_, change_mutex_, mutex_);
  Result<> begin_journal() REQUIRES(change_mutex_);
  Result<> begin_change() REQUIRES(change_mutex_);
  void tidy() EXCLUDES(commit_mutex_, change_mutex_);
  Result<> note(const JournalRecord&) REQUIRES(change_mutex_);
  std::shared_ptr<StagedBytes> new_bytes(std::uint64_t id, std::uint64_t base, const std::shared_ptr<Journal>&) const;
  Result<NodePtr> stage_file(const NodePtr& in, std::string_view name, std::uint64_t base, mode_t, bool continues)
      REQUIRES(change_mutex_) EXCLUDES(mutex_);
  Result<> take_away(const Looked&) EXCLUDES(change_mutex_);
  Result<> move(const NodePtr& in, std::string_view name, const Looked& to, unsigned flags) REQUIRES(change_mutex_);
  Result<> check_move(const StagedNode&, const NodePtr& in, const Looked& to) const EXCLUDES(mutex_);
  Result<> check_look(const Looked&) const EXCLUDES(mutex_);
  bool continues_committed(const StagedNode&) const EXCLUDES(mutex_);
  std::string status_base_name(const StagedNode&) const EXCLUDES(mutex_);
  bool has_room(const StagedNode& in, std::string_view name, const StagedNode* moved = nullptr) const EXCLUDES(mutex_);
  std::optional<JournalRecord> removal_of(const StagedNode&) const EXCLUDES(mutex_);
  NodePtr add(const NodePtr& in, std::string_view name, bool directory, mode_t) EXCLUDES(mutex_);
  void wait_for_releases(const NodePtr& directory) EXCLUDES(mutex_);
  void run();
  // What a look at the staged tables may commit: only clusters of those that are still being written; or what is whole;
  // or also what can be no more than it is.
  enum class Occasion : std::uint8_t { busy, quiet, last };
  std::optional<Occasion> wait_for_work() EXCLUDES(mutex_);
  // `below`: a path; of tables those in it, or that it lies in.
  Result<> commit_pass(Occasion, const std::string& below = "") EXCLUDES(mutex_, commit_mutex_);
  Result<> commit_once(Occasion, const std::string& below, bool& again) REQUIRES(commit_mutex_) EXCLUDES(mutex_);
  CommitWork plan_work(Occasion, const std::string& below, bool& again) REQUIRES(commit_mutex_) EXCLUDES(mutex_);
  void plan_table(StagedTable, Occasion, bool& again, CommitWork&) REQUIRES(commit_mutex_) EXCLUDES(mutex_);
  Result<> commit_work(CommitWork&) REQUIRES(commit_mutex_) EXCLUDES(mutex_);
  Result<> commit_parts(CommitWork&) REQUIRES(commit_mutex_) EXCLUDES(mutex_);
  void show_whole_keys(Occasion) EXCLUDES(mutex_);
  bool grows_in_step(const StagedTable&, const TableProgress&) const;
  TableProgress progress(StagedTable&) REQUIRES(commit_mutex_);
  void release(const CommitWork&) EXCLUDES(mutex_);
  void settle(const CommitWork&) EXCLUDES(mutex_);
  void settle_column(const StagedColumn&) REQUIRES(mutex_);
  void keep_error(const CommitWork&, const Error&) EXCLUDES(mutex_);
  void tell(const std::string& path, const std::vector<std::string>& hopeless) EXCLUDES(mutex_);
  void drop_left_over() EXCLUDES(change_mutex_, mutex_);
  void note_done() EXCLUDES(change_mutex_);
  void end_journal() REQUIRES(change_mutex_) EXCLUDES(mutex_);
  void free_journal() EXCLUDES(commit_mutex_, change_mutex_, mutex_);
  void trim_journal() REQUIRES(commit_mutex_) EXCLUDES(change_mutex_, mutex_);
  Result<> compact_journal() REQUIRES(commit_mutex_, change_mutex_) EXCLUDES(mutex_);
  bool is_worth_compacting() const REQUIRES(change_mutex_) EXCLUDES(mutex_);
  Result<JournalBegin> journal_begin() const;
  Result<> check_basis(const CommittedColumn&) EXCLUDES(mutex_);
  Result<> follow_file() REQUIRES(commit_mutex_) EXCLUDES(change_mutex_, mutex_);
  Result<> sync_journal(const std::vector<NodePtr>&) EXCLUDES(change_mutex_, mutex_);
  Result<> sync_below(const NodePtr& directory) EXCLUDES(change_mutex_, mutex_);
  std::shared_ptr<Journal> journal() EXCLUDES(change_mutex_);
  using Reasons = std::map<std::string, std::vector<std::string>>;  // by path
  Reasons reasons() EXCLUDES(commit_mutex_, mutex_);
  Reasons find_reasons() EXCLUDES(commit_mutex_, mutex_);
  Reasons look_for_reasons() REQUIRES(commit_mutex_) EXCLUDES(mutex_);
  bool is_committing() const EXCLUDES(mutex_);
  void read_columns(StagedTable&) EXCLUDES(mutex_);
  Result<> check_offsets_of(const StagedColumn&) EXCLUDES(mutex_);
  Result<> check_place(const NodePtr& in) const REQUIRES(mutex_);
  Result<> check_object(const NodePtr& in, std::string_view name) EXCLUDES(mutex_);
  Error refuse(const Refusal&) REQUIRES(mutex_);
  void examine(const NodePtr& table, StagedNode& file) REQUIRES(mutex_);
  void plan_arrows(const StagedChanges&, const std::string& below, CommitWork&) REQUIRES(commit_mutex_)
      EXCLUDES(mutex_);
  Result<StagedTable> whole_arrow(const StagedArrow&) REQUIRES(commit_mutex_) EXCLUDES(mutex_);
  Result<StagedTable> arrow_table(const StagedArrow&) const;
  Result<> check_arrow(const NodePtr&) const;
  bool is_taken(const StagedArrow&) REQUIRES(commit_mutex_) EXCLUDES(mutex_);
  void settle_whole(const NodePtr& file) REQUIRES(mutex_);  // an Arrow file, or a .npy file

  Writing& writing_;
  const std::shared_ptr<const FilePlace> place_;
  const std::string path_;
  const Hooks hooks_;
  const NodePtr root_;  // what hangs below it is guarded by mutex_

  Mutex change_mutex_;  // one change after the other, each in the journal before it is in the tree; before mutex_
  std::shared_ptr<Journal> journal_ GUARDED_BY(change_mutex_);
  std::uint64_t compact_at_ GUARDED_BY(change_mutex_) = 0;  // not below that many bytes: where it failed before

  std::atomic<std::uint64_t> left_ = 0;

  Mutex commit_mutex_;  // one commit after the other; before change_mutex_
  Committer committer_ GUARDED_BY(commit_mutex_);

  mutable Mutex mutex_;
  Condition changed_;
  std::uint64_t last_id_ GUARDED_BY(mutex_) = 0;
  int committing_ GUARDED_BY(mutex_) = 0;  // so many have commit_mutex_, maybe for long, or want it for a commit
  int looking_ GUARDED_BY(mutex_) = 0;     // for reasons, since before any of these came
  Condition looked_;
  Reasons known_ GUARDED_BY(mutex_);  // reasons, when last looked for
  struct Failure {
    std::string text;
    StagedNode::Clock::time_point at;
  };
  std::map<std::string, Failure> failed_ GUARDED_BY(mutex_);  // commits, by what was to be committed: a path
  std::set<std::string> told_ GUARDED_BY(mutex_);             // hopeless reasons, with their paths
  JournalBegin basis_ GUARDED_BY(mutex_);                     // the file as what is staged takes it to be
  std::uint64_t commits_ GUARDED_BY(mutex_) = 0;
  bool there_ GUARDED_BY(mutex_) = false;
  bool explicit_ GUARDED_BY(mutex_) = false;  // the file was made by its name
  bool resting_ GUARDED_BY(mutex_) = false;
  bool forgotten_ GUARDED_BY(mutex_) = false;
  FilePlace::Owner owner_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool running_ GUARDED_BY(mutex_) = false;
  StagedNode::Clock::time_point last_change_ GUARDED_BY(mutex_){};
  struct Pass {
    StagedNode::Clock::time_point begin{};
    bool quiet = false, failed = false;
  };
  Pass last_pass_ GUARDED_BY(mutex_);  // of the thread that commits
  std::thread thread_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
