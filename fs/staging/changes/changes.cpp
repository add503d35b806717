// SPDX-License-Identifier: Apache-2.0
#include "staging/changes/changes.h"

#include <algorithm>
#include <utility>

#include "staging/changes/recovery.h"

namespace tfilefs {

using tfile::fail;

Changes::Changes(Overlay& overlay, std::shared_ptr<const FilePlace> place, StagingMemory& memory,
                 std::function<void()> begun)
    : overlay_(overlay), place_(std::move(place)), memory_(memory), begun_(std::move(begun)) {}

// ---- of the file

Result<> Changes::make(const FilePlace::Owner& maker) {
  const Lock change(mutex);
  FilePlace::Owner before;
  {
    const Overlay::Locked lock(overlay_);
    if (lock->there || lock->made_by_name) return name_taken();
    lock->made_by_name = true;
    before = std::exchange(lock->file_owner, maker);  // this user will own the journal, too
  }
  JournalRecord record;  // of the root: the file itself
  record.kind = JournalKind::create;
  record.file_kind = StagedKind::directory;
  auto made = begin_change();
  if (made) made = note(record);
  if (!made) {
    const Overlay::Locked lock(overlay_);
    lock->made_by_name = false;
    lock->file_owner = before;
  }
  return made;
}

Result<> Changes::claim() {
  const Lock change(mutex);
  return journal_ ? Result<>() : begin_journal();
}

Result<> Changes::hold() {
  const Lock change(mutex);
  return journal_ ? hold_file() : Result<>();
}

bool Changes::rest() {
  const Lock change(mutex);
  const Overlay::Locked lock(overlay_);
  lock->resting =
      std::ranges::none_of(overlay_.root->children, [](const auto& child) { return has_changes(*child.second); });
  return lock->resting;
}

void Changes::forget() {
  const Lock change(mutex);
  {
    const Overlay::Locked lock(overlay_);
    overlay_.root->children.clear();
    overlay_.root->whiteouts.clear();
    lock->there = lock->made_by_name = lock->resting = false;
    lock->forgotten = true;
  }
  if (journal_) (void)journal_->remove();  // if that fails, the next mount finds that it belongs to no file
  journal_.reset();
  claim_.reset();
}

bool Changes::has_taken_over() {
  const Lock change(mutex);
  return has_taken_over_;
}

// ---- the journal

// For the present state of the file.
Result<JournalBegin> Changes::journal_begin() const {
  JournalBegin begin;
  if (auto source = place_->source()) {
    TRY_VOID(place_->open_to_write());  // checks that the file may be written
    TRY(begin.head, place_->head());
    TRY(const auto file, tfile::File::open(*source));
    begin.file_uuid = file->header().uuid;
    begin.file_end = file->header().end;
  }
  return begin;
}

// The file that has the name now; there may be none.
Result<> Changes::hold_file() {
  if (claim_ && claim_->is_of(*place_)) return {};
  claim_.reset();
  auto taken = FileClaim::take(*place_);
  if (!taken && taken.error().kind == ErrorKind::not_found) return {};
  TRY(claim_, std::move(taken));
  return {};
}

// Before something is staged, which a crash leaves in the journal beside this name.
Result<> Changes::hold_by_this_name() {
  if (!journal_) TRY_VOID(hold_file());
  if (!claim_) return {};
  auto noted = claim_->note_name(*place_);
  if (!noted && !journal_) claim_.reset();
  return noted;
}

Result<> Changes::begin_journal() {
  const auto begun = [&]() REQUIRES(mutex) -> Result<JournalBegin> {
    TRY_VOID(hold_file());
    TRY(JournalBegin begin, journal_begin());
    const FilePlace::Owner belongs = overlay_.owner();
    auto made = Journal::create(place_->directory.get(), journal_name(place_->name), begin, belongs.uid, belongs.gid);
    if (!made && made.error().kind == ErrorKind::exists)
      return fail(ErrorKind::busy, place_->shown +
                                       ": a crashed writer has left a journal next to it: the next mount, or "
                                       "`tfilefs recover`, commits it");
    TRY(journal_, std::move(made));
    return begin;
  }();
  if (!begun) {
    claim_.reset();
    return tl::unexpected(begun.error());
  }
  compact_at_ = 0;
  const Overlay::Locked lock(overlay_);
  lock->basis = *begun;
  return {};
}

Result<> Changes::begin_change() {
  {
    const Overlay::Locked lock(overlay_);
    if (lock->ending) return fail(ErrorKind::busy, "the mount is ending");
    if (lock->forgotten) return outdated("the file was removed or moved");
    if (lock->resting) return busy("the file is being renamed");
    lock->last_change = overlay_.clock.now();
  }
  TRY_VOID(hold_by_this_name());
  if (!journal_) TRY_VOID(begin_journal());
  begun_();
  return {};
}

Result<> Changes::note(const JournalRecord& record) { return journal_->append(record); }

std::shared_ptr<StagedBytes> Changes::new_bytes(std::uint64_t id, std::uint64_t base,
                                                const std::shared_ptr<Journal>& journal) const {
  auto bytes = StagedBytes::create(id, journal, memory_);
  if (base > 0) {
    (void)bytes->truncate(base);  // a hole, which is dropped at once: takes no memory, cannot fail
    bytes->drop_before(base);
  }
  return bytes;
}

std::shared_ptr<Journal> Changes::journal() {
  const Lock change(mutex);
  return journal_;
}

std::shared_ptr<Journal> Changes::want_journal() {
  const Lock change(mutex);
  if (!journal_ && (!hold_by_this_name() || !begin_journal())) return nullptr;
  return journal_;
}

Result<std::vector<std::byte>> Changes::follow(const tfile::File* file) {
  const Lock change(mutex);
  bool rests = false;
  {
    const Overlay::Locked lock(overlay_);
    drop_whiteouts_of_nothing(*overlay_.root, file);
    rests = rests_on_committed(*overlay_.root);
  }
  if (rests)
    return fail(ErrorKind::busy,
                "another program has changed the file since: copy the staged data elsewhere, discard it here (truncate "
                "columns to their committed size, remove what is new), and write it again");
  TRY(JournalBegin now, journal_begin());
  if (journal_) TRY_VOID(journal_->append(begin_record(now)));
  const Overlay::Locked lock(overlay_);
  lock->basis = std::move(now);
  return lock->basis.head;
}

void Changes::note_done() {
  const Lock change(mutex);
  if (!journal_) return;
  (void)journal_->append({.kind = JournalKind::done});
  (void)hold_file();  // that the commit has made; if another mount holds it already, the next commit says so
}

void Changes::trim_journal(bool may_compact, bool after_commit) {
  const Lock change(mutex);
  bool needed = false;
  {
    const Overlay::Locked lock(overlay_);
    drop_unused(*overlay_.root);
    if (!journal_ || lock->resting) return;  // while the name changes, the journal keeps other mounts away
    needed = has_changes(*overlay_.root) || (lock->made_by_name && !lock->there);
  }
  if (needed) {
    if (!may_compact || !is_worth_compacting()) return;
    if (auto done = compact_journal(); !done) {
      compact_at_ = 2 * journal_->size();
      overlay_.errors.add("/" + overlay_.file_path, done.error());
    }
    return;
  }
  end_journal(after_commit);
}

// After a commit a journal that reappears by a power cut is recognized as done. Without one it must not bring back what
// was removed, but say that nothing is staged.
void Changes::end_journal(bool after_commit) {
  const Result<> synced = after_commit ? Result<>() : journal_->sync();
  // It takes no change any more, so that it is removed all the same: the next change begins another one.
  if (!synced) overlay_.errors.add("/" + overlay_.file_path, synced.error());
  if (auto removed = journal_->remove(); !removed) {
    overlay_.errors.add("/" + overlay_.file_path, removed.error());
    return;  // it is used on: while a file is open, nobody could make or take over another one
  }
  journal_.reset();
  claim_.reset();
  has_taken_over_ = false;
  const Overlay::Locked lock(overlay_);
  drop_unused(*overlay_.root, true);
  forget_numbers(*overlay_.root);
}

void Changes::note_freed() {
  const Lock change(mutex);
  compact_at_ = 0;
}

// ---- durability

// Again if the journal was rewritten meanwhile.
Result<> Changes::sync_journal(const std::vector<NodePtr>& nodes) {
  for (std::shared_ptr<Journal> synced, now = journal(); synced != now; now = journal()) {
    for (const NodePtr& node : nodes) {
      if (node->bytes) TRY_VOID(node->bytes->journal_dirty());
    }
    if (now) TRY_VOID(now->sync());
    synced = now;
  }
  return {};
}

// With the directory itself.
std::vector<NodePtr> Changes::staged_below(const NodePtr& directory) const {
  std::vector<NodePtr> nodes{directory};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Overlay::Listed& child : overlay_.list(*nodes[i]).staged) nodes.push_back(child.node);
  }
  return nodes;
}

Result<> Changes::sync_below(const NodePtr& directory) { return sync_journal(staged_below(directory)); }

Result<> Changes::journal_cuts() {
  std::vector<NodePtr> cut = staged_below(overlay_.root);
  std::erase_if(cut, [](const NodePtr& node) { return !node->bytes || !node->bytes->is_cut(); });
  if (cut.empty()) return {};
  TRY_VOID(sync_journal(cut));
  const Overlay::Locked lock(overlay_);
  drop_unused(*overlay_.root);
  return {};
}

std::vector<Changes::Unkept> Changes::unkept() {
  bool is_good = false;
  {
    const Lock change(mutex);  // a rewritten journal takes the other's name
    is_good = journal_ && !journal_->has_failed() && journal_->has_name();
  }
  std::vector<Unkept> files;
  for (const NodePtr& node : staged_below(overlay_.root)) {
    if (!node->bytes || (is_good && node->bytes->is_journaled())) continue;
    if (node->bytes->size() <= overlay_.status(*node).base) continue;
    files.push_back(
        {overlay_.path(*node), is_good && !node->bytes->journal_refused() && overlay_.is_open_to_write(*node)});
  }
  return files;
}

Result<> Changes::sync(const NodePtr& node) {
  TRY_VOID(sync_journal({node}));
  if (auto error = overlay_.take_error(*node)) return tl::unexpected(*std::move(error));
  return {};
}

}  // namespace tfilefs
