// SPDX-License-Identifier: Apache-2.0
#include "staging/staged_file.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tfile/file.h"
#include "wall_clock.h"

namespace tfilefs {

using tfile::fail;
using Clock = StagedNode::Clock;

// ---- making, ending

StagedFile::StagedFile(Writing& writing, FilePlace place, std::string path, Hooks hooks)
    : writing_(writing),
      place_(std::make_shared<const FilePlace>(std::move(place))),
      path_(std::move(path)),
      hooks_(std::move(hooks)),
      root_(std::make_shared<StagedNode>(0, true, "", nullptr)),
      committer_(writing.options, writing.cache, place_, left_),
      there_(place_->owner().has_value()),
      owner_(place_->owner().value_or(process_owner())) {
  root_->attributes.modified = wall_clock();
}

Result<std::shared_ptr<StagedFile>> StagedFile::open(Writing& writing, FilePlace place, std::string path, Hooks hooks) {
  std::shared_ptr<StagedFile> made(new StagedFile(writing, std::move(place), std::move(path), std::move(hooks)));
  TRY_VOID(made->replay());
  return made;
}

StagedFile::~StagedFile() { stop(); }

void StagedFile::stop() {
  std::thread ending;
  {
    const Lock lock(mutex_);
    if (std::exchange(stopping_, true)) return;
    ending.swap(thread_);
  }
  changed_.notify_all();
  if (ending.joinable()) ending.join();
  bool untouched = false;
  {
    const Lock change(change_mutex_);
    untouched = !journal_;
  }
  if (untouched) return tidy();
  drop_left_over();
  if (auto done = commit_pass(Occasion::last); !done) writing_.errors.add("/" + path_, done.error());
  // What is not whole is for the next mount: nobody may have asked for its fsync.
  if (auto kept = sync_below(root_); !kept) writing_.errors.add("/" + path_, kept.error());
  for (const auto& [path, reason] : pending()) writing_.errors.add(path, "not committed: " + reason);
  tidy();
}

Result<> StagedFile::make(const FilePlace::Owner& maker) {
  const Lock change(change_mutex_);
  FilePlace::Owner before;
  {
    const Lock lock(mutex_);
    if (there_ || explicit_) return name_taken();
    explicit_ = true;
    before = std::exchange(owner_, maker);  // the journal is given to him
  }
  JournalRecord record;  // of the root: the file itself
  record.kind = JournalKind::create;
  record.file_kind = StagedKind::directory;
  auto made = begin_change();
  if (made) made = note(record);
  if (!made) {
    const Lock lock(mutex_);
    explicit_ = false;
    owner_ = before;
  }
  return made;
}

FilePlace::Owner StagedFile::owner() const {
  const Lock lock(mutex_);
  return owner_;
}

Result<> StagedFile::change_owner(const FilePlace::Owner& owner, timespec modified) {
  if (place_->owner()) TRY_VOID(place_->change(owner, modified));
  const Lock lock(mutex_);
  owner_ = owner;
  return {};
}

bool StagedFile::is_there() const {
  const Lock lock(mutex_);
  return there_;
}

bool StagedFile::has_pending() const {
  const Lock lock(mutex_);
  return has_changes(*root_);
}

bool StagedFile::is_wanted() const {
  const Lock lock(mutex_);
  return there_ || explicit_;
}

Result<> StagedFile::claim() {
  const Lock change(change_mutex_);
  return journal_ ? Result<>() : begin_journal();
}

void StagedFile::unclaim() {
  const Lock commit(commit_mutex_);
  {
    const Lock lock(mutex_);
    resting_ = false;
  }
  trim_journal();
}

bool StagedFile::rest() {
  const Lock change(change_mutex_);
  const Lock lock(mutex_);
  resting_ = !has_changes(*root_);
  return resting_;
}

void StagedFile::note_there() {
  const Lock lock(mutex_);
  there_ = true;
}

void StagedFile::forget() {
  const Lock commit(commit_mutex_);
  committer_.give_up();
  const Lock change(change_mutex_);
  {
    const Lock lock(mutex_);
    root_->children.clear();
    root_->hidden.clear();
    failed_.clear();
    there_ = explicit_ = resting_ = false;
    forgotten_ = true;
  }
  if (journal_) (void)journal_->remove();  // where that fails, the next mount finds that it belongs to nothing
  journal_.reset();
}

bool StagedFile::is_forgotten() const {
  const Lock lock(mutex_);
  return forgotten_;
}

// ---- looking

StagedLook StagedFile::look(const StagedNode& directory, std::string_view name) const {
  const Lock lock(mutex_);
  return tfilefs::look(directory, name);
}

StagedFile::Listing StagedFile::list(const StagedNode& directory) const {
  const Lock lock(mutex_);
  Listing listing;
  listing.hidden = directory.hidden;
  listing.hidden.insert(directory.set_aside.begin(), directory.set_aside.end());
  for (const auto& [name, node] : directory.children)
    listing.staged.push_back({name, node->base_name, node->directory, node});
  return listing;
}

std::optional<std::vector<std::string>> StagedFile::committed_path(const StagedNode& directory) const {
  const Lock lock(mutex_);
  return tfilefs::committed_path(directory);
}

std::string StagedFile::path(const StagedNode& node) const {
  const Lock lock(mutex_);
  const std::string below = staged_path(node);
  return path_.empty() ? below : below.empty() ? path_ : path_ + "/" + below;
}

StagedFile::Status StagedFile::status(const StagedNode& node) const {
  const Lock lock(mutex_);
  Status status{
      node.attributes, node.bytes ? node.bytes->size() : 0, node.base, !node.children.empty(), !node.base_name.empty(),
      node.is_object};
  return status;
}

void StagedFile::set_attributes(StagedNode& node, const std::function<void(StagedAttributes&)>& change) {
  const Lock lock(mutex_);
  change(node.attributes);
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
  const FilePlace::Owner belongs = owner();
  TRY(journal_, Journal::create(place_->directory.get(), journal_name(place_->name), begin, belongs.uid, belongs.gid));
  const Lock lock(mutex_);
  basis_ = begin;
  return {};
}

Result<> StagedFile::begin_change() {
  {
    const Lock lock(mutex_);
    if (stopping_) return fail(ErrorKind::busy, "the mount is ending");
    if (forgotten_) return fail(ErrorKind::stale, "the file was removed or moved", -1, ESTALE);
    if (resting_) return fail(ErrorKind::busy, "the file is being renamed", -1, EBUSY);
    last_change_ = Clock::now();
  }
  if (!journal_) TRY_VOID(begin_journal());
  const Lock lock(mutex_);
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

bool StagedFile::opened(StagedNode& node, bool to_write) {
  const Lock lock(mutex_);
  if (node.gone || node.settled) return false;
  if (to_write) {
    ++node.writers;
    last_change_ = Clock::now();
  }
  return true;
}

void StagedFile::closed(StagedNode& node) {
  {
    const Lock lock(mutex_);
    --node.writers;
    last_change_ = Clock::now();
  }
  changed_.notify_all();
}

void StagedFile::written(StagedNode& node, std::uint64_t offset) {
  const Lock lock(mutex_);
  ++node.changes;
  node.offsets.cut(offset);
  const auto at = Clock::now();
  if (node.first_write == Clock::time_point{}) node.first_write = at;
  node.last_write = last_change_ = at;
  node.flushed = false;
  node.attributes.modified = wall_clock();
  node.attributes.time_was_set = false;
}

void StagedFile::flushed(StagedNode& node) {
  const Lock lock(mutex_);
  node.flushed = true;
}

bool StagedFile::is_open_to_write(const StagedNode& node) const {
  const Lock lock(mutex_);
  return node.writers > 0;
}

std::optional<Error> StagedFile::take_error(StagedNode& node) {
  const Lock lock(mutex_);
  return std::exchange(node.error, std::nullopt);
}

std::uint64_t StagedFile::commits() const {
  const Lock lock(mutex_);
  return commits_;
}

bool StagedFile::is_settled(const StagedNode& node) const {
  const Lock lock(mutex_);
  return node.settled;
}

StagedPlace StagedFile::place_of(const StagedNode& node) const {
  const Lock lock(mutex_);
  return {node.parent.lock(), node.name};
}

StagedPlace StagedFile::committed_place_of(const StagedNode& node) const {
  const Lock lock(mutex_);
  return {node.base_name.empty() ? nullptr : node.parent.lock(), node.base_name};
}

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
    for (const Listed& child : list(*nodes[i]).staged) nodes.push_back(child.node);
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
  std::vector<NodePtr> nodes{root_};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodePtr node = nodes[i];
    for (const Listed& child : list(*node).staged) nodes.push_back(child.node);
    if (!node->bytes || (is_good && node->bytes->is_journaled())) continue;
    if (node->bytes->size() <= status(*node).base) continue;
    files.push_back({path(*node), is_good && !node->bytes->journal_refused() && is_open_to_write(*node)});
  }
  return files;
}

Result<> StagedFile::sync(const NodePtr& node) {
  TRY_VOID(sync_journal({node}));
  if (auto error = take_error(*node)) return tl::unexpected(*std::move(error));
  return {};
}

}  // namespace tfilefs
