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

namespace tfilefs {

// A name in a directory.
struct StagedPlace {
  NodePtr directory;  // null: that is gone
  std::string name;
};

// What is staged of a ROOT file lies over what the file has as one layer over another: `root` is the upper one; the
// lower one is the file, of which this knows its state alone. Thread-safe:
// every function takes `mutex` for a few look-ups, and none blocks, unless it says so. What is to be one step for
// others is done by the rooms above with `mutex` held.
struct Overlay {
  // `file_path_`: in the mount. `owner_`: of the file, where there is one.
  Overlay(std::string file_path_, ErrorLog&, std::optional<FilePlace::Owner> owner_);

  // ---- of the file

  FilePlace::Owner owner() const EXCLUDES(mutex);  // of the file, or of the one that will be made
  bool is_there() const EXCLUDES(mutex);           // whether the file exists on disk, committed at least once
  bool has_pending() const EXCLUDES(mutex);        // whether anything is staged
  bool is_wanted() const EXCLUDES(mutex);          // whether the file is there, or will be
  bool is_forgotten() const EXCLUDES(mutex);       // whether it was taken away by its name, with what was staged in it
  std::uint64_t commits() const EXCLUDES(mutex);   // that were settled since the mount began
  // A ROOT file was found under the name: another program, or a rename, has put it there since.
  void note_there() EXCLUDES(mutex);

  // ---- names

  StagedLook look(const StagedNode& directory, std::string_view name) const EXCLUDES(mutex);
  struct Listed {
    std::string name, base_name;
    bool directory = false;
    NodePtr node;
  };
  struct Listing {
    std::vector<Listed> staged;
    std::set<std::string, std::less<>> whiteouts;
  };
  Listing list(const StagedNode& directory) const EXCLUDES(mutex);
  std::optional<std::vector<std::string>> committed_path(const StagedNode& directory) const EXCLUDES(mutex);
  std::string path(const StagedNode&) const EXCLUDES(mutex);      // for messages, with the file's
  StagedPlace place_of(const StagedNode&) const EXCLUDES(mutex);  // where it stands, or stood
  // Where the committed state knows a directory: no directory where it does not, and of the root.
  StagedPlace committed_place_of(const StagedNode&) const EXCLUDES(mutex);
  // Whether a name in a directory is short enough, and all that lies below `moved`, which is to get it.
  bool has_room(const StagedNode& in, std::string_view name, const StagedNode* moved = nullptr) const EXCLUDES(mutex);

  // The node of a committed directory, in which something may be staged.
  NodePtr stand_over(const NodePtr& directory, std::string_view name, CommittedKind) EXCLUDES(mutex);
  // Nobody but the caller has it any more: it goes where nothing is staged in it.
  void leave(const NodePtr&) EXCLUDES(mutex);
  // A new node with the next number, which stands in no directory yet.
  NodePtr new_node(const NodePtr& in, std::string_view name, bool directory, mode_t) EXCLUDES(mutex);

  // ---- attributes

  struct Status {
    StagedAttributes attributes;
    std::uint64_t size = 0;
    std::uint64_t base = 0;
    bool has_children = false;
    bool is_committed = false;  // a directory that the committed state knows
    bool is_object = false;     // StagedNode::is_object
    bool is_fixed_table = false;
  };
  // Of a file or directory that is staged.
  Status status(const StagedNode&) const EXCLUDES(mutex);
  void set_attributes(StagedNode&, const std::function<void(StagedAttributes&)>&) EXCLUDES(mutex);
  bool is_settled(const StagedNode&) const EXCLUDES(mutex);  // whether it gave way to a committed column
  bool continues_committed(const StagedNode&) const EXCLUDES(mutex);
  std::string base_name_of(const StagedNode&) const EXCLUDES(mutex);
  // Whether a change of that name waits for the commit that is under way, if one is.
  bool waits_for_commit(const StagedNode& in, std::string_view name) const EXCLUDES(mutex);

  // ---- handles that are open for writing

  // False: it is committed, or removed, and has to be looked up again.
  bool opened(StagedNode&, bool to_write) EXCLUDES(mutex);
  void closed(StagedNode&) EXCLUDES(mutex);
  void written(StagedNode&, std::uint64_t offset) EXCLUDES(mutex);  // bytes from there on have changed
  void flushed(StagedNode&) EXCLUDES(mutex);
  bool is_open_to_write(const StagedNode&) const EXCLUDES(mutex);
  std::optional<Error> take_error(StagedNode&) EXCLUDES(mutex);  // of a commit; told once

  // ---- what can never be committed (overlay_checks.cpp)

  // The columns' own names, and what can be seen of them alone: sets `unreadable`. Blocks for what is in the journal.
  void read_columns(StagedTable&) EXCLUDES(mutex);
  // Nothing more is made where all is refused. Error: unsupported.
  Result<> check_place(const NodePtr& in) const REQUIRES(mutex);
  // No file of an object is made by its name. Error: unsupported.
  Result<> check_object(const NodePtr& in, std::string_view name) EXCLUDES(mutex);
  // The error of a refusal, which is noted where all of a directory is refused.
  Error refuse(const Refusal&) REQUIRES(mutex);
  // Looks, once, at what was made in a directory before it was known for a table. Who made it one is told when closing
  // `file`.
  void examine(const NodePtr& table, StagedNode& file) REQUIRES(mutex);

  const std::string file_path;
  ErrorLog& errors;
  const NodePtr root;  // what hangs below it is guarded by `mutex`

  mutable Mutex mutex;
  Condition changed;  // a handle was closed, or the mount ends
  std::uint64_t last_id GUARDED_BY(mutex) = 0;
  JournalBegin basis GUARDED_BY(mutex);  // the file as what is staged takes it to be
  std::uint64_t settled_commits GUARDED_BY(mutex) = 0;
  bool there GUARDED_BY(mutex) = false;
  bool made_by_name GUARDED_BY(mutex) = false;  // the file itself
  bool resting GUARDED_BY(mutex) = false;       // its path changes: nothing is taken now
  bool forgotten GUARDED_BY(mutex) = false;
  bool ending GUARDED_BY(mutex) = false;  // the mount does: nothing is taken any more
  FilePlace::Owner file_owner GUARDED_BY(mutex);
  StagedNode::Clock::time_point last_change GUARDED_BY(mutex){};

 private:
  Result<> check_offsets_of(const StagedColumn&) EXCLUDES(mutex);
};

// Whether a commit reads it, and knows it by its name.
bool is_being_committed(const NodePtr&);

}  // namespace tfilefs
