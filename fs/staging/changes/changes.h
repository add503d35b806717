// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mutex.h"
#include "staging/journal/file_claim.h"
#include "staging/journal/file_place.h"
#include "staging/journal/journal.h"
#include "staging/overlay/overlay.h"
#include "staging/overlay/staging_memory.h"
#include "tfile/file.h"

namespace tfilefs {

// Changes the overlay of a file, and its journal: each change is in the journal before it is in the tree. Thread-safe;
// every function blocks. A change can return the errors of the journal, and: busy (the mount ends, or the file is being
// renamed), stale (the file was removed or moved).
class Changes {
 public:
  // `begun`: called with `mutex` held before each change, which has to be committed some time.
  Changes(Overlay&, std::shared_ptr<const FilePlace>, StagingMemory&, std::function<void()> begun);

  // ---- of the file

  // Takes over the journal of a writer that crashed, if there is one. Errors: damaged, denied, busy (a journal of
  // another file), stale.
  Result<> replay() EXCLUDES(mutex, overlay_);
  // The file is to exist even if nothing is staged in it (mkdir). Does not change the file system by itself; see
  // make_directory. Error: exists.
  Result<> make(const FilePlace::Owner& maker) EXCLUDES(mutex, overlay_);
  // Keeps other mounts from writing the file until forget(), or until the journal is trimmed. Errors: busy, denied, io.
  Result<> claim() EXCLUDES(mutex, overlay_);
  // The same, if there is a journal, for the file that has the name now: a commit may have made it. Error: busy, if it
  // is written by another of its names.
  Result<> hold() EXCLUDES(mutex, overlay_);
  // Whether nothing is staged but removals of keys; if so, changes fail with EBUSY from now on.
  bool rest() EXCLUDES(mutex, overlay_);
  // Drops the staged contents and the journal. Later changes are stale. Must not be called during a commit.
  void forget() EXCLUDES(mutex, overlay_);

  // Whether replay() has staged something, and something is staged since.
  bool has_taken_over() EXCLUDES(mutex);

  // ---- names. The caller has to know whether a name is committed.

  Result<NodePtr> make_directory(const NodePtr& in, std::string_view name, mode_t) EXCLUDES(mutex, overlay_);
  // Not in a field that a commit is reading.
  Result<NodePtr> make_file(const NodePtr& in, std::string_view name, mode_t) REQUIRES(mutex) EXCLUDES(overlay_);
  // The staged file that continues a committed column, for appending; an existing one, if there is one. Error: stale,
  // if the committed column is not as described, since a commit, or another program, has changed the file. `again`: the
  // caller has rebased the staged contents on the file. Without it, null is returned if another program has changed the
  // file, and the caller must do that first.
  struct CommittedColumn {
    std::uint64_t size = 0;           // bytes
    std::span<const std::byte> head;  // the first bytes of the file from which it was read
    std::uint64_t commits = 0;        // number of commits before it was read
    mode_t mode = 0;
  };
  Result<NodePtr> continue_file(const NodePtr& in, std::string_view name, const CommittedColumn&, bool again)
      EXCLUDES(mutex, overlay_);
  // Hides a committed name that can only go with its key, such as a file of an object, until the key is removed, or a
  // commit finds that it was not. Does not change the file.
  Result<> set_aside(const NodePtr& in, std::string_view name) EXCLUDES(mutex, overlay_);
  // A name in a directory, as it was found before it is changed. If a commit has ended since, the change returns the
  // error stale, and the name must be looked up again.
  struct Looked {
    NodePtr directory;
    std::string name;
    bool committed = false;     // there is a committed entry of this name
    std::uint64_t commits = 0;  // number of commits before the look-up
  };
  // The committed entry of the name is removed by the next commit. Errors: not_empty, not_found, stale.
  Result<> remove(const Looked&) EXCLUDES(mutex, overlay_);
  // For a staged entry, or a key within its own directory. Errors: exists, not_empty, stale; EXDEV for a committed
  // entry that cannot be moved. A file that a commit is reading must not be moved.
  Result<> rename(const NodePtr& in, std::string_view name, const Looked& to, unsigned flags) REQUIRES(mutex)
      EXCLUDES(overlay_);
  // Drops directories inside tables that stayed empty, and the remains of refused ones. To be called when no change can
  // come any more.
  void drop_left_over() EXCLUDES(mutex, overlay_);

  // ---- bytes

  // Error: busy, if a commit is reading the bytes to be cut off (StagedBytes::when_thawed).
  Result<> truncate(const NodePtr&, std::uint64_t size) EXCLUDES(mutex, overlay_);
  Result<> set_title(const NodePtr&, std::string title) EXCLUDES(mutex, overlay_);
  // How an RNTuple stores a new column; changes nothing once a part of it is committed. Error: invalid (no encoding).
  Result<> set_encoding(const NodePtr&, std::string encoding) EXCLUDES(mutex, overlay_);
  // The class of what a new directory of an RNTuple holds, if it is a record.
  Result<> set_class(const NodePtr&, std::string name) EXCLUDES(mutex, overlay_);
  // Keeps the date that the node has now for the next mount, unless the node is committed.
  Result<> keep_date(const NodePtr&) EXCLUDES(mutex, overlay_);
  // Brings all that was written to the file to disk. Errors: those of the journal; that of a commit, returned once.
  Result<> sync(const NodePtr&) EXCLUDES(mutex, overlay_);
  // The same for all staged files in the directory, without the errors of commits.
  Result<> sync_below(const NodePtr& directory) EXCLUDES(mutex, overlay_);
  // Notes in the journal what was cut off since it knew of it: until then the files would be restored as they were, and
  // so rest on what is committed.
  Result<> journal_cuts() EXCLUDES(mutex, overlay_);
  // The staged files with bytes that are neither in the file nor in the journal, and would be lost if the mount ended
  // now.
  struct Unkept {
    std::string path;         // in the mount, from its root
    bool is_written = false;  // a program has it open for writing, and the journal accepted its last bytes
  };
  std::vector<Unkept> unkept() EXCLUDES(mutex, overlay_);

  // ---- the journal, for commits: called by one at a time

  std::shared_ptr<Journal> journal() EXCLUDES(mutex);  // null if there is none
  // Begins one if there is none; null if that fails.
  std::shared_ptr<Journal> want_journal() EXCLUDES(mutex, overlay_);
  // Rebases the staged contents on the present file, and adds that to the journal. Returns the file's first bytes.
  // Errors: busy (the staged contents depend on the former contents of the file), those of the file and of the journal.
  Result<std::vector<std::byte>> follow(const tfile::File*) EXCLUDES(mutex, overlay_);
  // Adds to the journal that the commit took place, so that this stays known whatever other programs do to the file.
  void note_done() EXCLUDES(mutex);
  // Removes the journal if nothing is staged. If most of it is obsolete, it is rewritten, provided that `may_compact`:
  // the result of the last commit is known. `after_commit`: the file has all that the journal tells.
  void trim_journal(bool may_compact, bool after_commit = false) EXCLUDES(mutex, overlay_);
  // Something large was removed: rewriting the journal may be tried again, even if it has failed before.
  void note_freed() EXCLUDES(mutex);

  // Serializes changes; before Overlay::mutex_. While it is held names do not change.
  Mutex mutex{
      "Changes::mutex",
      "Overlay::mutex_, StagingMemory::mutex_, StagedBytes::mutex_, Journal::append_mutex_, Journal::state_mutex_, "
      "RootFile::class_infos_mutex_, Budget::mutex_, ErrorLog::mutex_, Log::mutex_, a read"};

 private:
  Result<JournalBegin> journal_begin() const;
  Result<> hold_file() REQUIRES(mutex);
  Result<> hold_by_this_name() REQUIRES(mutex);
  Result<> take_over() REQUIRES(mutex) EXCLUDES(overlay_);
  Result<> begin_journal() REQUIRES(mutex) EXCLUDES(overlay_);
  Result<> begin_change() REQUIRES(mutex) EXCLUDES(overlay_);
  Result<> note(const JournalRecord&) REQUIRES(mutex);
  Result<> set_text(StagedNode&, JournalKind, std::string StagedAttributes::*, std::string text)
      EXCLUDES(mutex, overlay_);
  void end_journal(bool after_commit) REQUIRES(mutex) EXCLUDES(overlay_);
  bool is_worth_compacting() const REQUIRES(mutex) EXCLUDES(overlay_);
  Result<> compact_journal() REQUIRES(mutex) EXCLUDES(overlay_);
  std::shared_ptr<StagedBytes> new_bytes(std::uint64_t id, std::uint64_t base, const std::shared_ptr<Journal>&) const;
  Result<NodePtr> stage_file(const NodePtr& in, std::string_view name, std::uint64_t base, mode_t, bool continues)
      REQUIRES(mutex) EXCLUDES(overlay_);
  Result<> check_basis(const CommittedColumn&) const EXCLUDES(overlay_);
  Result<> check_look(const Looked&) const EXCLUDES(overlay_);
  Result<> check_name(const NodePtr& in, std::string_view name, bool directory, const StagedNode* moved) const
      EXCLUDES(overlay_);
  Result<NodePtr> table_of(const Overlay::Locked&, const StagedNode&) const REQUIRES(overlay_);
  Result<> check_move(const StagedNode&, const NodePtr& in, const Looked& to, const NodePtr& taken) const
      EXCLUDES(overlay_);
  std::optional<JournalRecord> removal_of(const StagedNode&) const EXCLUDES(overlay_);
  std::vector<NodePtr> staged_below(const NodePtr& directory) const EXCLUDES(overlay_);
  Result<> sync_journal(const std::vector<NodePtr>&) EXCLUDES(mutex, overlay_);

  Overlay& overlay_;
  const std::shared_ptr<const FilePlace> place_;
  StagingMemory& memory_;
  const std::function<void()> begun_;
  std::optional<FileClaim> claim_ GUARDED_BY(mutex);  // beside the journal, if there is a file; let go after it
  std::shared_ptr<Journal> journal_ GUARDED_BY(mutex);
  bool has_taken_over_ GUARDED_BY(mutex) = false;   // the journal is one that replay() found
  std::uint64_t compact_at_ GUARDED_BY(mutex) = 0;  // not with fewer bytes, since it failed with that many
};

}  // namespace tfilefs
