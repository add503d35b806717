// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
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
// them into the file (Commits). Their locks are taken in the order Commits::mutex, Changes::mutex, Overlay::mutex. This
// class forwards to the three, and implements what takes two of them. Thread-safe. Functions that change the tree,
// `sync` and `commit` block; the others do not, unless they say so.
class StagedFile : public std::enable_shared_from_this<StagedFile> {
 public:
  using Hooks = Commits::Hooks;
  // `path`: in the mount, for messages. Takes over the journal of a writer that crashed, if there is one, which blocks.
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
  std::string path(const StagedNode& node) const { return overlay_.path(node); }
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
  Result<> keep_date(const NodePtr& node) { return changes_.keep_date(node); }
  Result<> sync(const NodePtr& node) { return changes_.sync(node); }
  using Unkept = Changes::Unkept;
  std::vector<Unkept> unkept() { return changes_.unkept(); }

  // ---- changes beside commits

  // As Changes::continue_file; if another program has written the file, the staged contents are rebased on it first.
  Result<NodePtr> continue_file(const NodePtr& in, std::string_view name, const CommittedColumn&)
      EXCLUDES(commits_.mutex, changes_.mutex, overlay_.mutex);
  // As Changes::remove. A directory, or an Arrow file, is removed when no commit is under way.
  Result<> remove(const Looked&) EXCLUDES(commits_.mutex, changes_.mutex);
  // As Changes::rename (after EXDEV, mv copies). A directory, an Arrow file, or a file that a commit reads, which knows
  // it by its name, is moved when no commit is under way.
  Result<> rename(const NodePtr& in, std::string_view name, const Looked& to, unsigned flags)
      EXCLUDES(commits_.mutex, changes_.mutex);

  // ---- of the file

  // Of the existing file, and of the one that will be made. Blocks. Errors: denied, io.
  Result<> change_owner(const FilePlace::Owner&, timespec modified) EXCLUDES(overlay_.mutex);
  // The committed file. Blocks. Error: not_found.
  Result<std::shared_ptr<const tfile::Source>> committed_source() const { return place_->source(); }
  // As the functions of these names (closed_check.h).
  bool is_to_be_checked(const StagedNode& node) const { return tfilefs::is_to_be_checked(overlay_, node); }
  Result<> check_closed(const NodePtr& node) { return tfilefs::check_closed(overlay_, node, writing_.memory); }

  // ---- of Commits: see there

  Result<> commit(const NodePtr& directory) { return commits_.commit(directory); }
  void stop() { commits_.stop(); }
  std::uint64_t bytes_left() const { return commits_.bytes_left(); }
  void unclaim() { commits_.unclaim(); }
  void forget() { commits_.forget(); }
  Result<std::string> pending_json() { return commits_.pending_json(); }
  using Pending = Commits::Pending;
  std::vector<Pending> pending() { return commits_.pending(); }

 private:
  StagedFile(Writing&, FilePlace, std::string path, Hooks);

  Writing& writing_;
  const std::shared_ptr<const FilePlace> place_;
  Overlay overlay_;
  Changes changes_;
  Commits commits_;
};

}  // namespace tfilefs
