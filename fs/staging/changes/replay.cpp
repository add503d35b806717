// SPDX-License-Identifier: Apache-2.0
// The part of Changes that takes over the journal of a crashed writer.
#include <optional>
#include <utility>

#include "staging/changes/changes.h"
#include "staging/changes/recovery.h"
#include "tfile/file.h"

namespace tfilefs {

using tfile::fail;

namespace {

// The file beside which the journal lies, null if there is none; adds its head to a journal that has none. Errors: busy
// (it is another file's journal), stale, those of the file.
Result<std::shared_ptr<const tfile::File>> file_of(const FilePlace& place, Replayed& replayed) {
  const auto source = place.source();
  if (!source) return nullptr;
  TRY(std::shared_ptr<const tfile::File> file, tfile::File::open(*source));
  if (replayed.begin.file_end == 0) return file;
  if (file->header().uuid != replayed.begin.file_uuid)
    return fail(ErrorKind::busy, place.shown + ": the journal next to it belongs to another file; left unchanged");
  // If the journal has no head, only the end of the file can tell.
  if (!replayed.begin.head.empty() || last_of_commits(replayed.records)) return file;
  if (file->header().end != replayed.begin.file_end)
    return fail(ErrorKind::stale, place.shown + ": another program has changed the file since the crash");
  TRY(replayed.begin.head, place.head());
  return file;
}

}  // namespace

Result<> Changes::replay() {
  const Lock change(mutex);
  if (!id_at(place_->directory.get(), journal_name(place_->name))) return {};
  // If another mount writes the file, it can still be read, and changes fail with that error.
  if (auto held = hold_file(); !held && held.error().kind == ErrorKind::busy) return {};
  // A file that has got more names since, where this cannot be noted, is taken over by the name beside which its
  // journal lies.
  auto done = claim_ ? claim_->note_name(*place_) : Result<>();
  if (done || done.error().kind != ErrorKind::busy) done = take_over();
  if (!journal_) claim_.reset();
  return done;
}

// Staged contents that its commits have brought into the file are dropped, and the others are staged again.
Result<> Changes::take_over() {
  const auto owner = place_->owner();
  auto found = Journal::replay(place_->directory.get(), journal_name(place_->name), place_->journal_owner(),
                               Journal::Use::take_over);
  if (!found && (found.error().kind == ErrorKind::not_found || found.error().kind == ErrorKind::busy)) return {};
  TRY(Replayed replayed, std::move(found));
  if (!replayed.cut.empty())
    overlay_.errors.add("/" + overlay_.file_path, "journal read up to its last complete record: " + replayed.cut);
  TRY(const Mended mended, mend_head(*place_, replayed.records));
  if (mended.was_torn)
    overlay_.errors.add("/" + overlay_.file_path, "the file header was incomplete; it was rewritten from the journal");
  TRY(const std::shared_ptr<const tfile::File> file, file_of(*place_, replayed));
  auto tree = restore_tree(overlay_.root, replayed.records, mended.last_took_place, file.get(),
                           [this, &journal = replayed.journal](std::uint64_t id, std::uint64_t base) {
                             return new_bytes(id, base, journal);
                           });
  if (!tree) {
    const Overlay::Locked lock(overlay_);
    overlay_.root->children.clear();  // a partly restored tree must not be committed
    overlay_.root->whiteouts.clear();
    return tl::unexpected(std::move(tree).error());
  }
  const RestoredTree& restored = *tree;
  journal_ = replayed.journal;
  has_taken_over_ = true;
  {
    const Overlay::Locked lock(overlay_);
    lock->last_id = restored.last_id;
    // Staged contents based on a file that is gone are shown, so that they can be copied or removed.
    lock->made_by_name = restored.makes_file || (!file && replayed.begin.file_end != 0 && has_changes(*overlay_.root));
    lock->basis = std::move(replayed.begin);
    if (restored.head) lock->basis.head = *restored.head;
    if (!owner) lock->file_owner.uid = replayed.owner, lock->file_owner.gid = replayed.group;
    lock->last_change = overlay_.clock.now();
  }
  begun_();
  return {};
}

}  // namespace tfilefs
