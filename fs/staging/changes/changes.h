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
#include "staging/journal/file_place.h"
#include "staging/journal/journal.h"
#include "staging/overlay/overlay.h"
#include "staging/overlay/staging_memory.h"
#include "tfile/file.h"

namespace tfilefs {

// What changes the overlay of a file, and its journal: each change is in the journal before it is in the tree.
// Thread-safe; every function blocks. A change gives the errors of the journal, and besides: busy (the mount ends, or
// the file is being renamed), stale (it is forgotten).
class Changes {
 public:
  // `begun`: called with `mutex` held before a change is made: it is to be committed some time.
  Changes(Overlay&, std::shared_ptr<const FilePlace>, StagingMemory&, std::function<void()> begun);

  // ---- of the file

  // Takes over the journal of a writer that crashed, if there is one. Errors: damaged, denied, busy (a journal of
  // another file), stale.
  Result<> replay() EXCLUDES(mutex, overlay_.mutex);
  // The file is wanted whether or not anything is staged in it (mkdir). Changes nothing by itself; see make_directory.
  // Error: exists.
  Result<> make(const FilePlace::Owner& maker) EXCLUDES(mutex, overlay_.mutex);
  // No other mount may write the file until forget(), or until the journal is trimmed. Errors: busy, denied, io.
  Result<> claim() EXCLUDES(mutex, overlay_.mutex);
  // Whether nothing is staged; then changes are EBUSY from now on.
  bool rest() EXCLUDES(mutex, overlay_.mutex);
  // What is staged goes, and the journal with it. Changes are stale from then on. No commit is under way.
  void forget() EXCLUDES(mutex, overlay_.mutex);

  // ---- names. Whether a name is committed is the caller's to know.

  Result<NodePtr> make_directory(const NodePtr& in, std::string_view name, mode_t) EXCLUDES(mutex, overlay_.mutex);
  Result<NodePtr> make_file(const NodePtr& in, std::string_view name, mode_t) EXCLUDES(mutex, overlay_.mutex);
  // A committed column to which items are to be appended; the staged one behind it, if there is one. Error: stale: it
  // is not committed as was said, for a commit, or another program, has changed the file since. `again`: the file was
  // followed; else that of another program gives null, and what is staged is to follow the file first.
  struct CommittedColumn {
    std::uint64_t size = 0;           // bytes
    std::span<const std::byte> head;  // with which the file begins, of which that was read
    std::uint64_t commits = 0;        // before it was looked at
    mode_t mode = 0;
  };
  Result<NodePtr> continue_file(const NodePtr& in, std::string_view name, const CommittedColumn&, bool again)
      EXCLUDES(mutex, overlay_.mutex);
  // A committed name that goes with its key alone, as a file of an object does: it is hidden until the key is removed,
  // or a commit finds that it was not. Changes nothing of the file.
  Result<> set_aside(const NodePtr& in, std::string_view name) EXCLUDES(mutex, overlay_.mutex);
  // A name in a directory, as it was looked at before it is changed. What changes it gives the error stale where a
  // commit has settled since: it is to be looked at again.
  struct Looked {
    NodePtr directory;
    std::string name;
    bool committed = false;     // something is, under this name
    std::uint64_t commits = 0;  // before it was looked at
  };
  // What is committed under the name goes with the next commit. Errors: not_empty, not_found, stale.
  Result<> remove(const Looked&) EXCLUDES(mutex, overlay_.mutex);
  // Of what is staged, or of a key within its own directory. Errors: exists, not_empty, stale; EXDEV for a committed
  // thing that cannot move. Nothing that a commit reads may be moved.
  Result<> rename(const NodePtr& in, std::string_view name, const Looked& to, unsigned flags) REQUIRES(mutex)
      EXCLUDES(overlay_.mutex);
  // Directories that nothing was ever put into, inside tables, and what is left of those that were refused, go: no
  // change comes any more.
  void drop_left_over() EXCLUDES(mutex, overlay_.mutex);

  // ---- bytes

  // Error: busy, where a commit reads what would be cut off (StagedBytes::when_thawed).
  Result<> truncate(const NodePtr&, std::uint64_t size) EXCLUDES(mutex, overlay_.mutex);
  Result<> set_title(const NodePtr&, std::string title) EXCLUDES(mutex, overlay_.mutex);
  // The date that the node has now, for the next mount.
  Result<> keep_date(const NodePtr&) EXCLUDES(mutex, overlay_.mutex);
  // All that was written to the file is on disk. Errors: the journal's; that of a commit, told once.
  Result<> sync(const NodePtr&) EXCLUDES(mutex, overlay_.mutex);
  // The same of all that is staged in the directory; commits are not told of.
  Result<> sync_below(const NodePtr& directory) EXCLUDES(mutex, overlay_.mutex);
  // The staged files of which bytes are neither in the file nor in the journal: lost if the mount ended now.
  struct Unkept {
    std::string path;         // in the mount, from its root
    bool is_written = false;  // a program has it open for writing, and the journal took what it was given last
  };
  std::vector<Unkept> unkept() EXCLUDES(mutex, overlay_.mutex);

  // ---- the journal, for commits: one at a time calls these

  std::shared_ptr<Journal> journal() EXCLUDES(mutex);  // null: there is none
  // It is begun where there is none; null where it cannot be.
  std::shared_ptr<Journal> want_journal() EXCLUDES(mutex, overlay_.mutex);
  // What is staged rests on the file as it is now, which the journal is told. Gives its first bytes. Errors: busy (what
  // is staged means what it means only over what the file had), those of the file and of the journal.
  Result<std::vector<std::byte>> follow(const tfile::File*) EXCLUDES(mutex, overlay_.mutex);
  // A journal that stays knows by itself that the commit took place, whatever other programs make of the file.
  void note_done() EXCLUDES(mutex);
  // With nothing staged the journal has nothing to tell, and goes; else it is written anew where most of it is not so
  // any more, if `may_compact`: what the last commit made of the file is known.
  void trim_journal(bool may_compact) EXCLUDES(mutex, overlay_.mutex);
  // Something large was removed: it may be written anew though that has failed before.
  void note_freed() EXCLUDES(mutex);

  // One change after the other; before Overlay::mutex. While it is held names stay as they are.
  Mutex mutex;

 private:
  Result<JournalBegin> journal_begin() const;
  Result<> begin_journal() REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  Result<> begin_change() REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  Result<> note(const JournalRecord&) REQUIRES(mutex);
  void end_journal() REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  bool is_worth_compacting() const REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  Result<> compact_journal() REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  std::shared_ptr<StagedBytes> new_bytes(std::uint64_t id, std::uint64_t base, const std::shared_ptr<Journal>&) const;
  Result<NodePtr> stage_file(const NodePtr& in, std::string_view name, std::uint64_t base, mode_t, bool continues)
      REQUIRES(mutex) EXCLUDES(overlay_.mutex);
  Result<> check_basis(const CommittedColumn&) const EXCLUDES(overlay_.mutex);
  Result<> check_look(const Looked&) const EXCLUDES(overlay_.mutex);
  Result<> check_move(const StagedNode&, const NodePtr& in, const Looked& to) const EXCLUDES(overlay_.mutex);
  std::optional<JournalRecord> removal_of(const StagedNode&) const EXCLUDES(overlay_.mutex);
  Result<> sync_journal(const std::vector<NodePtr>&) EXCLUDES(mutex, overlay_.mutex);

  Overlay& overlay_;
  const std::shared_ptr<const FilePlace> place_;
  StagingMemory& memory_;
  const std::function<void()> begun_;
  std::shared_ptr<Journal> journal_ GUARDED_BY(mutex);
  std::uint64_t compact_at_ GUARDED_BY(mutex) = 0;  // not below that many bytes: where it failed before
};

}  // namespace tfilefs
