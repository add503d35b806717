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
// the lower one is the file, of which this class knows only the state. Thread-safe. Every function takes `mutex` for a
// few look-ups, and none blocks, unless it says so. Where several calls must be one step to other threads, the rooms
// above hold `mutex` meanwhile.
struct Overlay {
  // `file_path_`: in the mount. `owner_`: of the file, if it exists. `format_`: what new tables are stored as.
  Overlay(std::string file_path_, ErrorLog&, SteadyClock&, std::optional<FilePlace::Owner> owner_,
          tfile::TableFormat format_);

  // ---- of the file

  FilePlace::Owner owner() const EXCLUDES(mutex);  // of the file, or of the one that will be made
  bool is_there() const EXCLUDES(mutex);           // whether the file exists on disk, committed at least once
  bool has_pending() const EXCLUDES(mutex);        // whether anything is staged
  bool is_wanted() const EXCLUDES(mutex);          // whether the file is there, or will be
  bool is_forgotten() const EXCLUDES(mutex);       // whether the file and its staged contents were removed by its name
  std::uint64_t commits() const EXCLUDES(mutex);   // number of commits since the mount began
  // A ROOT file was found under the name, put there since by another program or by a rename.
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
  std::string path(const StagedNode&) const EXCLUDES(mutex);      // for messages, with that of the file
  StagedPlace place_of(const StagedNode&) const EXCLUDES(mutex);  // its present or last place
  // The place of a directory in the committed state: without a directory if it is not committed, or is the root.
  StagedPlace committed_place_of(const StagedNode&) const EXCLUDES(mutex);
  // Whether a name in a directory is short enough, and so are the paths below `moved`, which is to get the name.
  bool has_room(const StagedNode& in, std::string_view name, const StagedNode* moved = nullptr) const EXCLUDES(mutex);

  // The node for a committed directory, in which something may be staged.
  NodePtr stand_over(const NodePtr& directory, std::string_view name, CommittedKind) EXCLUDES(mutex);
  // The caller is done with the node: it is removed if nothing is staged in it and it is not used elsewhere.
  void leave(const NodePtr&) EXCLUDES(mutex);
  // A new node with the next number, which is in no directory yet.
  NodePtr new_node(const NodePtr& in, std::string_view name, bool directory, mode_t) EXCLUDES(mutex);

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
  // Of a staged file or directory.
  Status status(const StagedNode&) const EXCLUDES(mutex);
  void set_attributes(StagedNode&, const std::function<void(StagedAttributes&)>&) EXCLUDES(mutex);
  bool is_settled(const StagedNode&) const EXCLUDES(mutex);  // whether a committed column has replaced it
  bool continues_committed(const StagedNode&) const EXCLUDES(mutex);
  std::string base_name_of(const StagedNode&) const EXCLUDES(mutex);
  // Whether a change of that name must wait for the commit under way, if there is one.
  bool waits_for_commit(const StagedNode& in, std::string_view name) const EXCLUDES(mutex);
  // Whether a commit is reading columns of the field in which the directory lies: what it commits takes no more
  // members.
  bool is_in_committing_field(const StagedNode& directory) const EXCLUDES(mutex);

  // ---- handles that are open for writing

  // False if it is committed, or removed, and has to be looked up again.
  bool opened(StagedNode&, bool to_write) EXCLUDES(mutex);
  void closed(StagedNode&) EXCLUDES(mutex);
  // The mount ends: no more changes are accepted, and no handle counts as open. The last request with one may have been
  // answered without having let it go yet. False if it was called before.
  bool end() REQUIRES(mutex);
  void written(StagedNode&, std::uint64_t offset) EXCLUDES(mutex);  // bytes from there on have changed
  void flushed(StagedNode&) EXCLUDES(mutex);
  bool is_open_to_write(const StagedNode&) const EXCLUDES(mutex);
  std::optional<Error> take_error(StagedNode&) EXCLUDES(mutex);  // of a commit; returned once

  // ---- what can never be committed (overlay_checks.cpp)

  // Reads the headers of .npy columns and checks the offsets; sets `unreadable`. Blocks to read bytes in the journal.
  void read_columns(StagedTable&) EXCLUDES(mutex);
  // Refuses a new file below a directory that was refused as a whole. Error: unsupported.
  Result<> check_place(const NodePtr& in) const REQUIRES(mutex);
  // Refuses a file with the name of a file of an object where no object can be. Error: unsupported.
  Result<> check_object(const NodePtr& in, std::string_view name) EXCLUDES(mutex);
  // Refuses a file that is named like a table of another program's format. Error: unsupported.
  Result<> check_format(const NodePtr& in, std::string_view name) EXCLUDES(mutex);
  // The error of a refusal; a refusal of a whole directory is noted in it.
  Error refuse(const Refusal&) REQUIRES(mutex);
  // Checks, once, the files that were made in a directory before it was known to be a table. If some are refused, the
  // program that made it a table gets an error when it closes `file`.
  void examine(const NodePtr& table, StagedNode& file) REQUIRES(mutex);

  const std::string file_path;
  ErrorLog& errors;
  SteadyClock& clock;
  const tfile::TableFormat format;  // of new tables
  const NodePtr root;               // the nodes below are guarded by `mutex`

  mutable Mutex mutex{"Overlay::mutex", "StagedBytes::mutex_, Budget::mutex_, ErrorLog::mutex_, Log::mutex_"};
  Condition changed;  // a handle was closed, or the mount ends
  std::uint64_t last_id GUARDED_BY(mutex) = 0;
  JournalBegin basis GUARDED_BY(mutex);  // the state of the file on which the staged contents are based
  std::uint64_t settled_commits GUARDED_BY(mutex) = 0;
  bool there GUARDED_BY(mutex) = false;
  bool made_by_name GUARDED_BY(mutex) = false;  // the file itself
  bool resting GUARDED_BY(mutex) = false;       // its path is being changed: no changes are accepted now
  bool forgotten GUARDED_BY(mutex) = false;
  bool ending GUARDED_BY(mutex) = false;  // see end()
  FilePlace::Owner file_owner GUARDED_BY(mutex);
  SteadyClock::Time last_change GUARDED_BY(mutex){};

 private:
  Result<> check_offsets_of(const StagedColumn&) EXCLUDES(mutex);
  Result<> look_at_variants_of(StagedColumn& tags, const StagedColumn& index) EXCLUDES(mutex);
};

// Whether a commit is reading it, which knows it by its name.
bool is_being_committed(const NodePtr&);

}  // namespace tfilefs
