// SPDX-License-Identifier: Apache-2.0
#include "staging/staged_file.h"

#include <utility>

#include "staging/overlay/staged_arrow.h"

namespace tfilefs {

StagedFile::StagedFile(Writing& writing, FilePlace place, std::string path, Hooks hooks)
    : writing_(writing),
      place_(std::make_shared<const FilePlace>(std::move(place))),
      overlay_(std::move(path), writing.errors, writing.clock, place_->owner(), writing.options.format),
      changes_(overlay_, place_, writing.memory, [this] { commits_.begin_thread(); }),
      commits_(overlay_, changes_, writing, place_, std::move(hooks)) {}

Result<std::shared_ptr<StagedFile>> StagedFile::open(Writing& writing, FilePlace place, std::string path, Hooks hooks) {
  std::shared_ptr<StagedFile> made(new StagedFile(writing, std::move(place), std::move(path), std::move(hooks)));
  TRY_VOID(made->changes_.replay());
  return made;
}

StagedFile::~StagedFile() { commits_.stop(); }

Result<> StagedFile::change_owner(const FilePlace::Owner& owner, timespec modified) {
  if (place_->owner()) TRY_VOID(place_->change(owner, modified));
  const Overlay::Locked lock(overlay_);
  lock->file_owner = owner;
  return {};
}

Result<NodePtr> StagedFile::make_file(const NodePtr& in, std::string_view name, mode_t mode) {
  {
    const Lock change(changes_.mutex);  // so that no commit begins
    if (!overlay_.is_in_committing_field(*in)) return changes_.make_file(in, name, mode);
  }
  const Lock commit(commits_.mutex);
  const Lock change(changes_.mutex);
  return changes_.make_file(in, name, mode);
}

Result<NodePtr> StagedFile::continue_file(const NodePtr& in, std::string_view name,
                                          const Changes::CommittedColumn& column) {
  TRY(NodePtr node, changes_.continue_file(in, name, column, false));
  if (node) return node;
  {
    const Lock commit(commits_.mutex);
    // Staged contents that do not depend on the file's former contents do not keep another program from writing it.
    auto followed = commits_.follow_file();
    if (!followed && followed.error().kind != ErrorKind::busy) return tl::unexpected(std::move(followed).error());
  }
  return changes_.continue_file(in, name, column, true);
}

Result<> StagedFile::remove(const Changes::Looked& what) {
  constexpr std::uint64_t kLarge = 1 << 20;  // bytes in the journal; less is not worth a look at all staged files
  const StagedLook there = overlay_.look(*what.directory, what.name);
  const bool waits = there.what == StagedLook::What::directory || arrow_table_name(what.name);
  const bool was_large = there.node && there.node->bytes && there.node->bytes->journaled_bytes() >= kLarge;
  if (waits) {
    const Lock commit(commits_.mutex);
    TRY_VOID(changes_.remove(what));
  } else {
    TRY_VOID(changes_.remove(what));
  }
  if (was_large || !overlay_.has_pending()) commits_.free_journal();
  return {};
}

Result<> StagedFile::rename(const NodePtr& in, std::string_view name, const Changes::Looked& to, unsigned flags) {
  const StagedLook what = overlay_.look(*in, name);
  if (what.what == StagedLook::What::file && arrow_table_name(to.name))
    TRY_VOID(check_arrow(what.node, writing_.memory));
  if (what.what != StagedLook::What::directory && !arrow_table_name(name) && !arrow_table_name(to.name)) {
    const Lock change(changes_.mutex);  // so that no commit begins
    if (!is_being_committed(overlay_.look(*in, name).node) &&
        !is_being_committed(overlay_.look(*to.directory, to.name).node) &&
        !overlay_.is_in_committing_field(*to.directory))
      return changes_.rename(in, name, to, flags);
  }
  const Lock commit(commits_.mutex);
  const Lock change(changes_.mutex);
  return changes_.rename(in, name, to, flags);
}

}  // namespace tfilefs
