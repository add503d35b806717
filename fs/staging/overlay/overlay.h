// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "error_log.h"
#include "mutex.h"
#include "staging/journal/file_place.h"
#include "staging/journal/journal_record.h"
#include "staging/overlay/staged_table.h"
#include "staging/overlay/staged_tree.h"
#include "steady_clock.h"

namespace tfilefs {

// A name in a directory.
struct StagedPlace {
  NodePtr directory;  // null: it is gone
  std::string name;
};

// The staged contents of a ROOT file lie over those of the file as one layer over another. `root` is the upper layer;
// the lower one is the file, of which this class knows only the state. Thread-safe. Every function takes the lock for a
// few look-ups, and none blocks, unless it says so. Where several calls must be one step to other threads, the rooms
// above hold it meanwhile.
class CAPABILITY("mutex") Overlay {
 public:
  // State of the file.
  struct State {
    std::uint64_t last_id = 0;
    JournalBegin basis;  // the state of the file on which the staged contents are based
    std::uint64_t settled_commits = 0;
    bool there = false;
    bool made_by_name = false;  // the file itself
    bool resting = false;       // its path is being changed: no changes are accepted now
    bool forgotten = false;
    bool ending = false;  // see end()
    FilePlace::Owner file_owner;
    SteadyClock::Time last_change{};
  };

  // Holds the lock. The state is reached through it alone.
  class SCOPED_CAPABILITY Locked {
   public:
    explicit Locked(Overlay& overlay) ACQUIRE(overlay) : overlay_(overlay), lock_(overlay.mutex_) {}
    ~Locked() RELEASE() {}
    State* operator->() const { return &overlay_.state_; }
    // As Condition::wait and SteadyClock::wait_until, by the clock of the overlay. That the lock is held, clang is not
    // told: it is `lock_`.
    void wait(Condition& condition) const TFILE_ANNOTATE(no_thread_safety_analysis) { condition.wait(overlay_.mutex_); }
    void wait_until(Condition& condition, SteadyClock::Time time) const TFILE_ANNOTATE(no_thread_safety_analysis) {
      overlay_.clock.wait_until(condition, overlay_.mutex_, time);
    }

   private:
    Overlay& overlay_;
    const Lock lock_;
  };

  // `file_path_`: in the mount. `owner_`: of the file, if it exists. `format_`: what new tables are stored as.
  Overlay(std::string file_path_, ErrorLog&, SteadyClock&, std::optional<FilePlace::Owner> owner_,
          tfile::TableFormat format_);

  // ---- of the file

  FilePlace::Owner owner() const EXCLUDES(this);  // of the file, or of the one that will be made
  bool is_there() const EXCLUDES(this);           // whether the file exists on disk, committed at least once
  bool has_pending() const EXCLUDES(this);        // whether anything is staged
  bool is_wanted() const EXCLUDES(this);          // whether the file is there, or will be
  bool is_forgotten() const EXCLUDES(this);       // whether the file and its staged contents were removed by its name
  std::uint64_t commits() const EXCLUDES(this);   // number of commits since the mount began
  // A ROOT file was found under the name, put there since by another program or by a rename.
  void note_there() EXCLUDES(this);

  // ---- names

  StagedLook look(const StagedNode& directory, std::string_view name) const EXCLUDES(this);
  struct Listed {
    std::string name, base_name;
    bool directory = false;
    NodePtr node;
  };
  struct Listing {
    std::vector<Listed> staged;
    std::set<std::string, std::less<>> whiteouts;
  };
  Listing list(const StagedNode& directory) const EXCLUDES(this);
  std::optional<std::vector<std::string>> committed_path(const StagedNode& directory) const EXCLUDES(this);
  std::string path(const StagedNode&) const EXCLUDES(this);      // for messages, with that of the file
  StagedPlace place_of(const StagedNode&) const EXCLUDES(this);  // its present or last place
  // The place of a directory in the committed state: without a directory if it is not committed, or is the root.
  StagedPlace committed_place_of(const StagedNode&) const EXCLUDES(this);
  // Whether a name in a directory is short enough, and so are the paths below `moved`, which is to get the name.
  bool has_room(const StagedNode& in, std::string_view name, const StagedNode* moved = nullptr) const EXCLUDES(this);

  // The node for a committed directory, in which something may be staged.
  NodePtr stand_over(const NodePtr& directory, std::string_view name, CommittedKind) EXCLUDES(this);
  // The caller is done with the node: it is removed if nothing is staged in it and it is not used elsewhere.
  void leave(const NodePtr&) EXCLUDES(this);
  // A new node with the next number, which is in no directory yet.
  NodePtr new_node(const NodePtr& in, std::string_view name, bool directory, mode_t) EXCLUDES(this);

  // ---- attributes

  struct Status {
    StagedAttributes attributes;
    std::uint64_t size = 0;
    std::uint64_t base = 0;
    bool has_children = false;
    bool is_committed = false;  // a directory that exists in the committed state
    bool is_object = false;     // StagedNode::is_object
    bool is_fixed_table = false;
  };
  // The status of a staged file or directory.
  Status status(const StagedNode&) const EXCLUDES(this);
  void set_attributes(StagedNode&, const std::function<void(StagedAttributes&)>&) EXCLUDES(this);
  bool is_settled(const StagedNode&) const EXCLUDES(this);  // whether a committed column has replaced it
  bool continues_committed(const StagedNode&) const EXCLUDES(this);
  std::string base_name_of(const StagedNode&) const EXCLUDES(this);
  // Whether a change of that name must wait for the commit under way, if there is one.
  bool waits_for_commit(const StagedNode& in, std::string_view name) const EXCLUDES(this);
  // Whether a commit is reading columns of the field in which the directory lies: what it commits takes no more
  // members.
  bool is_in_committing_field(const StagedNode& directory) const EXCLUDES(this);

  // ---- handles that are open for writing

  // False if it is committed, or removed, and has to be looked up again.
  bool opened(StagedNode&, bool to_write) EXCLUDES(this);
  void closed(StagedNode&) EXCLUDES(this);
  // The mount ends: no more changes are accepted, and no handle counts as open. The last request with one may have been
  // answered without having let it go yet. False if it was called before.
  bool end(const Locked&) REQUIRES(this);
  void written(StagedNode&, std::uint64_t offset) EXCLUDES(this);  // bytes from there on have changed
  void flushed(StagedNode&) EXCLUDES(this);
  bool is_open_to_write(const StagedNode&) const EXCLUDES(this);
  std::optional<Error> take_error(StagedNode&) EXCLUDES(this);  // of a commit; returned once

  // ---- what can never be committed (overlay_checks.cpp)

  // Reads the headers of .npy columns and checks the offsets; sets `unreadable`. Blocks to read bytes in the journal.
  void read_columns(StagedTable&) EXCLUDES(this);
  // Refuses a new file below a directory that was refused as a whole. Error: unsupported.
  Result<> check_place(const Locked&, const NodePtr& in) const REQUIRES(this);
  // Refuses a file with the name of a file of an object where no object can be. Error: unsupported.
  Result<> check_object(const NodePtr& in, std::string_view name) EXCLUDES(this);
  // Refuses a file that is named like a table of another program's format. Error: unsupported.
  Result<> check_format(const NodePtr& in, std::string_view name) EXCLUDES(this);
  // The error of a refusal; a refusal of a whole directory is noted in it.
  Error refuse(const Locked&, const Refusal&) REQUIRES(this);
  // Checks, once, the files that were made in a directory before it was known to be a table. If some are refused, the
  // program that made it a table gets an error when it closes `file`.
  void examine(const Locked&, const NodePtr& table, StagedNode& file) REQUIRES(this);

  const std::string file_path;
  ErrorLog& errors;
  SteadyClock& clock;
  const tfile::TableFormat format;  // of new tables
  const NodePtr root;               // the nodes below are guarded by the lock

  Condition changed;  // a handle was closed, or the mount ends

 private:
  mutable Mutex mutex_{"Overlay::mutex_", "StagedBytes::mutex_, Budget::mutex_, ErrorLog::mutex_, Log::mutex_"};
  State state_ GUARDED_BY(mutex_);

  Result<> check_offsets_of(const StagedColumn&) EXCLUDES(this);
  Result<> look_at_variants_of(StagedColumn& tags, const StagedColumn& index) EXCLUDES(this);
};

// Whether a commit is reading it, which knows it by its name.
bool is_being_committed(const NodePtr&);

}  // namespace tfilefs
