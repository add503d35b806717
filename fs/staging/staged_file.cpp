// SPDX-License-Identifier: Apache-2.0
#include "staging/staged_file.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tfile/file.h"

namespace tfilefs {

using tfile::fail;
using Clock = StagedNode::Clock;

// ---- making, ending

StagedFile::StagedFile(Writing& writing, FilePlace place, std::string path, Hooks hooks)
    : writing_(writing),
      place_(std::make_shared<const FilePlace>(std::move(place))),
      hooks_(std::move(hooks)),
      overlay_(std::move(path), writing.errors, place_->owner()),
      committer_(writing.options, writing.cache, place_, left_) {}

Result<std::shared_ptr<StagedFile>> StagedFile::open(Writing& writing, FilePlace place, std::string path, Hooks hooks) {
  std::shared_ptr<StagedFile> made(new StagedFile(writing, std::move(place), std::move(path), std::move(hooks)));
  TRY_VOID(made->replay());
  return made;
}

StagedFile::~StagedFile() { stop(); }

void StagedFile::stop() {
  std::thread ending;
  {
    const Lock lock(overlay_.mutex);
    if (std::exchange(overlay_.ending, true)) return;
    ending.swap(thread_);
  }
  overlay_.changed.notify_all();
  if (ending.joinable()) ending.join();
  bool untouched = false;
  {
    const Lock change(change_mutex_);
    untouched = !journal_;
  }
  if (untouched) return tidy();
  drop_left_over();
  if (auto done = commit_pass(Occasion::last); !done) overlay_.errors.add("/" + overlay_.file_path, done.error());
  // What is not whole is for the next mount: nobody may have asked for its fsync.
  if (auto kept = sync_below(overlay_.root); !kept) overlay_.errors.add("/" + overlay_.file_path, kept.error());
  for (const auto& [path, reason] : pending()) overlay_.errors.add(path, "not committed: " + reason);
  tidy();
}

Result<> StagedFile::make(const FilePlace::Owner& maker) {
  const Lock change(change_mutex_);
  FilePlace::Owner before;
  {
    const Lock lock(overlay_.mutex);
    if (overlay_.there || overlay_.made_by_name) return name_taken();
    overlay_.made_by_name = true;
    before = std::exchange(overlay_.file_owner, maker);  // the journal is given to him
  }
  JournalRecord record;  // of the root: the file itself
  record.kind = JournalKind::create;
  record.file_kind = StagedKind::directory;
  auto made = begin_change();
  if (made) made = note(record);
  if (!made) {
    const Lock lock(overlay_.mutex);
    overlay_.made_by_name = false;
    overlay_.file_owner = before;
  }
  return made;
}

Result<> StagedFile::change_owner(const FilePlace::Owner& owner, timespec modified) {
  if (place_->owner()) TRY_VOID(place_->change(owner, modified));
  const Lock lock(overlay_.mutex);
  overlay_.file_owner = owner;
  return {};
}

Result<> StagedFile::claim() {
  const Lock change(change_mutex_);
  return journal_ ? Result<>() : begin_journal();
}

void StagedFile::unclaim() {
  const Lock commit(commit_mutex_);
  {
    const Lock lock(overlay_.mutex);
    overlay_.resting = false;
  }
  trim_journal();
}

bool StagedFile::rest() {
  const Lock change(change_mutex_);
  const Lock lock(overlay_.mutex);
  overlay_.resting = !has_changes(*overlay_.root);
  return overlay_.resting;
}

void StagedFile::forget() {
  const Lock commit(commit_mutex_);
  committer_.give_up();
  const Lock change(change_mutex_);
  {
    const Lock lock(overlay_.mutex);
    overlay_.root->children.clear();
    overlay_.root->hidden.clear();
    failed_.clear();
    overlay_.there = overlay_.made_by_name = overlay_.resting = false;
    overlay_.forgotten = true;
  }
  if (journal_) (void)journal_->remove();  // where that fails, the next mount finds that it belongs to nothing
  journal_.reset();
}

// ---- the journal

// Of the file as it is now.
Result<JournalBegin> StagedFile::journal_begin() const {
  JournalBegin begin;
  if (auto source = place_->source()) {
    TRY_VOID(place_->open_to_write());  // whether it may be written
    TRY(begin.head, place_->head());
    TRY(const auto file, tfile::File::open(*source));
    begin.file_uuid = file->header().uuid;
    begin.file_end = file->header().end;
  }
  return begin;
}

Result<> StagedFile::begin_journal() {
  TRY(const JournalBegin begin, journal_begin());
  compact_at_ = 0;
  const FilePlace::Owner belongs = overlay_.owner();
  TRY(journal_, Journal::create(place_->directory.get(), journal_name(place_->name), begin, belongs.uid, belongs.gid));
  const Lock lock(overlay_.mutex);
  overlay_.basis = begin;
  return {};
}

Result<> StagedFile::begin_change() {
  {
    const Lock lock(overlay_.mutex);
    if (overlay_.ending) return fail(ErrorKind::busy, "the mount is ending");
    if (overlay_.forgotten) return fail(ErrorKind::stale, "the file was removed or moved", -1, ESTALE);
    if (overlay_.resting) return fail(ErrorKind::busy, "the file is being renamed", -1, EBUSY);
    overlay_.last_change = Clock::now();
  }
  if (!journal_) TRY_VOID(begin_journal());
  const Lock lock(overlay_.mutex);
  if (!running_) {
    if (thread_.joinable()) thread_.join();  // it has ended by itself
    running_ = true;
    thread_ = std::thread([this] { run(); });
  }
  return {};
}

Result<> StagedFile::note(const JournalRecord& record) { return journal_->append(record); }

std::shared_ptr<StagedBytes> StagedFile::new_bytes(std::uint64_t id, std::uint64_t base,
                                                   const std::shared_ptr<Journal>& journal) const {
  auto bytes = StagedBytes::create(id, journal, writing_.memory);
  if (base > 0) {
    (void)bytes->truncate(base);  // a hole, which is dropped at once: takes no memory, cannot fail
    bytes->drop_before(base);
  }
  return bytes;
}

// ---- open files

std::shared_ptr<Journal> StagedFile::journal() {
  const Lock change(change_mutex_);
  return journal_;
}

// Once more where the journal was written anew meanwhile.
Result<> StagedFile::sync_journal(const std::vector<NodePtr>& nodes) {
  for (std::shared_ptr<Journal> synced, now = journal(); synced != now; now = journal()) {
    for (const NodePtr& node : nodes) {
      if (node->bytes) TRY_VOID(node->bytes->journal_dirty());
    }
    if (now) TRY_VOID(now->sync());
    synced = now;
  }
  return {};
}

// All that is staged in the directory.
Result<> StagedFile::sync_below(const NodePtr& directory) {
  std::vector<NodePtr> nodes{directory};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Listed& child : overlay_.list(*nodes[i]).staged) nodes.push_back(child.node);
  }
  return sync_journal(nodes);
}

std::vector<StagedFile::Unkept> StagedFile::unkept() {
  bool is_good = false;
  {
    const Lock change(change_mutex_);  // one that is written anew takes the other's name
    is_good = journal_ && !journal_->has_failed() && journal_->has_name();
  }
  std::vector<Unkept> files;
  std::vector<NodePtr> nodes{overlay_.root};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodePtr node = nodes[i];
    for (const Listed& child : overlay_.list(*node).staged) nodes.push_back(child.node);
    if (!node->bytes || (is_good && node->bytes->is_journaled())) continue;
    if (node->bytes->size() <= overlay_.status(*node).base) continue;
    files.push_back(
        {overlay_.path(*node), is_good && !node->bytes->journal_refused() && overlay_.is_open_to_write(*node)});
  }
  return files;
}

Result<> StagedFile::sync(const NodePtr& node) {
  TRY_VOID(sync_journal({node}));
  if (auto error = overlay_.take_error(*node)) return tl::unexpected(*std::move(error));
  return {};
}

}  // namespace tfilefs
