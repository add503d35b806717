// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "staging/changes/changes.h"
#include "staging/commit/closed_check.h"
#include "staging/commit/commits.h"
#include "staging/journal/file_place.h"
#include "staging/overlay/overlay.h"

namespace tfilefs {

// A ROOT file being written: the staged contents over it (Overlay), their changes (Changes), and the commits that bring
// them into the file (Commits). Their locks are taken in the order Commits::mutex, Changes::mutex, Overlay::mutex_.
// This class has what concerns the file as a whole, and what takes two of them. Thread-safe. Functions that change the
// tree, `sync` and `commit` block; the others do not, unless they say so.
class StagedFile : public std::enable_shared_from_this<StagedFile> {
 public:
  using Hooks = Commits::Hooks;
  // `path`: in the mount, for messages. Takes over the journal of a writer that crashed, if there is one, which blocks.
  // Errors: damaged, denied, busy (a journal of another file).
  static Result<std::shared_ptr<StagedFile>> open(Writing&, FilePlace, std::string path, Hooks);
  ~StagedFile();

  // The parts. Of Changes, make_file, continue_file, remove and rename are called through this class.
  Overlay& overlay() { return overlay_; }
  Changes& changes() { return changes_; }

  // ---- of the file as a whole: as the functions of the parts

  const NodePtr& root() const { return overlay_.root; }
  bool is_there() const { return overlay_.is_there(); }
  bool is_wanted() const { return overlay_.is_wanted(); }
  void note_there() { overlay_.note_there(); }
  Result<> make(const FilePlace::Owner& maker) { return changes_.make(maker); }
  using Unkept = Changes::Unkept;
  std::vector<Unkept> unkept() { return changes_.unkept(); }
  Result<> commit(const NodePtr& directory) { return commits_.commit(directory); }
  void stop() { commits_.stop(); }
  std::uint64_t bytes_left() const { return commits_.bytes_left(); }
  // As Changes::rest(), once the commit under way has ended. No other begins until unclaim().
  bool rest() EXCLUDES(commits_.mutex) {
    const Lock commit(commits_.mutex);
    return changes_.rest();
  }
  void unclaim() { commits_.unclaim(); }
  void forget() { commits_.forget(); }
  Result<> discard() { return commits_.discard(); }
  Result<std::string> pending_json() { return commits_.pending_json(); }
  using Pending = Commits::Pending;
  std::vector<Pending> pending() { return commits_.pending(); }

  // ---- changes beside commits

  // As Changes::make_file. A file in a field that a commit reads is made when that is over, which may refuse it.
  Result<NodePtr> make_file(const NodePtr& in, std::string_view name, mode_t)
      EXCLUDES(commits_.mutex, changes_.mutex, overlay_);
  // As Changes::continue_file; if another program has written the file, the staged contents are rebased on it first.
  Result<NodePtr> continue_file(const NodePtr& in, std::string_view name, const Changes::CommittedColumn&)
      EXCLUDES(commits_.mutex, changes_.mutex, overlay_);
  // As Changes::remove. A directory, or an Arrow file, is removed when no commit is under way.
  Result<> remove(const Changes::Looked&) EXCLUDES(commits_.mutex, changes_.mutex);
  // As Changes::rename (after EXDEV, mv copies). A directory, an Arrow file, a file that a commit reads, which knows it
  // by its name, or one that comes into a field that a commit reads, is moved when no commit is under way.
  Result<> rename(const NodePtr& in, std::string_view name, const Changes::Looked& to, unsigned flags)
      EXCLUDES(commits_.mutex, changes_.mutex);

  // ---- of the file

  // Changes that of the existing file, and of the one that will be made. Blocks. Errors: denied, io.
  Result<> change_owner(const FilePlace::Owner&, timespec modified) EXCLUDES(overlay_);
  // The committed file. Blocks. Error: not_found.
  Result<std::shared_ptr<const tfile::Source>> committed_source() const { return place_->source(); }
  // As the functions of these names (closed_check.h).
  bool is_to_be_checked(const StagedNode& node) const { return tfilefs::is_to_be_checked(overlay_, node); }
  Result<> check_closed(const NodePtr& node) { return tfilefs::check_closed(overlay_, node, writing_.memory); }

 private:
  StagedFile(Writing&, FilePlace, std::string path, Hooks);

  Writing& writing_;
  const std::shared_ptr<const FilePlace> place_;
  Overlay overlay_;
  Changes changes_;
  Commits commits_;
};

}  // namespace tfilefs
