// SPDX-License-Identifier: Apache-2.0
#include "staging/commit/committer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <utility>
#include <vector>

#include "staging/changes/recovery.h"
#include "staging/commit/object_offer.h"
#include "tfile/file.h"
#include "tfile/name.h"
#include "tfile/node.h"

namespace tfilefs {

using tfile::CommitPlan;
using tfile::CommitStep;
using tfile::fail;

namespace {

// Converts a path as the mount shows it to the names of keys.
std::string key_path(std::string_view shown) {
  std::string path;
  while (!shown.empty()) {
    const std::size_t slash = shown.find('/');
    if (!path.empty()) path += '/';
    path += tfile::unescape_name(shown.substr(0, slash));
    shown = slash == std::string_view::npos ? "" : shown.substr(slash + 1);
  }
  return path;
}

// The record that is written to the journal before the file changes.
JournalRecord intention_of(const CommitPlan& plan, const CommitWork& work) {
  JournalRecord record;
  record.kind = JournalKind::intend;
  Intention& intention = record.intention;
  intention.before = plan.head_before;
  intention.after = plan.head_after;
  bool behind_head = false;
  for (const CommitStep& step : plan.steps) {
    if (behind_head && step.kind == CommitStep::Kind::write) intention.switches.push_back({step.offset, step.bytes});
    behind_head |= step.kind == CommitStep::Kind::write && step.offset == 0;
  }
  for (const CommitWork::Directory& made : work.directories) intention.directories.push_back(made.path);
  for (const StagedObject& object : work.objects) {
    intention.directories.push_back(object.path);
    for (const StagedColumn& file : object.files) intention.columns.push_back({file.node->id, file.size});
  }
  for (const CommitWork::Rename& key : work.renamed) {
    intention.directories.push_back(joined_path(key.to.directory, key.to.name));
    intention.gone.push_back(joined_path(key.from.directory, key.from.name));
  }
  for (const CommitWork::Key& key : work.removed) intention.gone.push_back(joined_path(key.directory, key.name));
  for (const auto& [staged, entries, whole] : work.tables) {
    intention.tables.push_back(staged.path);
    for (const std::string& name : staged.removed) intention.gone.push_back(joined_path(staged.path, name));
    if (staged.arrow_size) {
      intention.columns.push_back({staged.node->id, *staged.arrow_size});
      continue;
    }
    for (const StagedColumn& column : staged.columns) intention.columns.push_back({column.node->id, column.done});
  }
  return record;
}

// Otherwise what was cut off would be staged again behind what is committed, if the commit is the last thing that the
// journal knows of.
Result<> journal_cuts(const CommitWork& work) {
  for (const CommitWork::Table& table : work.tables) {
    if (table.staged.arrow_size) TRY_VOID(table.staged.node->bytes->journal_cut());
    for (const StagedColumn& column : table.staged.columns) TRY_VOID(column.node->bytes->journal_cut());
  }
  for (const StagedObject& object : work.objects) {
    for (const StagedColumn& file : object.files) TRY_VOID(file.node->bytes->journal_cut());
  }
  return {};
}

bool loses_columns(const CommitWork& work) {
  return std::ranges::any_of(work.tables, [](const CommitWork::Table& table) { return !table.staged.removed.empty(); });
}

// Whether something that is in the file now is not there afterwards.
bool takes_away(const CommitWork& work) { return !work.removed.empty() || loses_columns(work); }

// 0: the time of the commit.
std::uint32_t datime_or_none(const std::optional<std::int64_t>& time) { return time ? tfile::datime_of(*time) : 0; }

}  // namespace

Result<> Committer::prepare() {
  if (lost_)
    return fail(ErrorKind::io, place_->shown + ": a commit failed in its last step; the next mount completes it");
  // A program that writes into gaps, twice within a second, may leave the first bytes unchanged.
  if (writer_ && !made_ && (!seen_ || identity() != seen_)) give_up();
  if (writer_) return {};
  auto source = place_->source();
  if (!source && source.error().kind != ErrorKind::not_found) return tl::unexpected(std::move(source).error());
  if (!source && !head_.empty()) return fail(ErrorKind::stale, place_->shown + ": the file was removed or moved");
  std::optional<tfile::Identity> state;
  if (!source) {
    TRY(writer_, tfile::FileWriter::create(place_->name, options_.compression));
  } else {
    state = (*source)->identity();
    TRY(auto file, tfile::File::open(*source));
    TRY(writer_, tfile::FileWriter::open(std::move(file), options_.compression));
  }
  if (writer_->makes_new_file()) {
    TRY(made_, NewFile::make(*place_, place_->owner().value_or(maker_)));
  } else {
    TRY(file_, place_->open_to_write());
    seen_ = identity();
    TRY_VOID(check_head(head_));
    if (seen_ != state) return fail(ErrorKind::stale, place_->shown + ": another program is writing the file");
  }
  return {};
}

// The identity of the file that has the name now.
std::optional<tfile::Identity> Committer::identity() const {
  struct stat status {};
  const bool there = ::fstatat(place_->directory.get(), place_->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  return there ? std::optional(tfile::identity_of(status)) : std::nullopt;
}

void Committer::follow(std::span<const std::byte> head) {
  if (is_same_head(head, head_)) return;  // of different lengths: one is from the file, one from a plan
  give_up();
  head_.assign(head.begin(), head.end());
}

void Committer::give_up() {
  untidy_ = leaves_names_ = false;
  tables_.clear();
  writer_.reset();
  file_ = Descriptor();
  made_.reset();
}

Result<TableCommit*> Committer::table(const std::string& path, bool committed, const std::string& title,
                                      tfile::TableFormat format) {
  const auto known = tables_.find(path);
  if (known != tables_.end()) return &known->second;
  const auto [above, last] = split_path(path);
  const std::string directory = key_path(above), name = tfile::unescape_name(last);
  tfile::TableWriter* writer = nullptr;
  if (committed) {
    using tfile::FileWriter;
    const auto old = ours_.contains(path) ? FileWriter::OldCycle::replaced : FileWriter::OldCycle::kept;
    TRY(writer, writer_->open_table(directory, name, old));
  } else {
    TRY(writer, writer_->create_table(directory, name, title, format));
  }
  return &tables_.emplace(path, TableCommit(writer)).first->second;
}

Result<const CommittedTable*> Committer::committed_table(const std::string& path) {
  TRY_VOID(prepare());
  TRY(TableCommit* const found, table(path, true, "", tfile::TableFormat::tree));
  found->count_by([this, path](const std::string& column) { return column_items(path, column); });
  return &found->committed();
}

Result<std::int64_t> Committer::column_items(const std::string& path, const std::string& column) const {
  TRY(auto source, place_->source());
  TRY(const auto file, tfile::File::open(std::move(source)));
  const auto found = find_key(*file, path);
  if (!found || !found->is_whole_path) return fail(ErrorKind::not_found, path + ": does not exist");
  TRY(const auto table, file->table(found->key));
  const auto at = std::ranges::find_if(table->columns, [&](const tfile::Column& each) { return each.path == column; });
  if (at == table->columns.end()) return fail(ErrorKind::not_found, path + "/" + column + ": does not exist");
  TRY(const std::int64_t items, tfile::count_items(*table, at->stream, at->slot));
  return at->role == tfile::Role::offsets ? std::max<std::int64_t>(0, items - 1) : items;
}

// Renames a key, and what is known of tables at its path, or below.
Result<> Committer::rename(const CommitWork::Rename& key) {
  TRY_VOID(writer_->rename_key(key_path(key.from.directory), key_path(key.from.name), key_path(key.to.directory),
                               key_path(key.to.name)));
  const std::string from = joined_path(key.from.directory, key.from.name);
  const std::string to = joined_path(key.to.directory, key.to.name);
  const auto renamed = [&](const std::string& path) { return to + path.substr(from.size()); };
  std::map<std::string, TableCommit> tables;
  for (auto& [path, table] : tables_) tables.emplace(lies_in(path, from) ? renamed(path) : path, std::move(table));
  tables_ = std::move(tables);
  std::set<std::string> ours;
  for (const std::string& path : ours_) ours.insert(lies_in(path, from) ? renamed(path) : path);
  ours_ = std::move(ours);
  return {};
}

// Removes a key, and what is known of tables at its path, or below: there may be another one later.
Result<> Committer::remove(const CommitWork::Key& key) {
  TRY_VOID(writer_->remove_key(key_path(key.directory), key_path(key.name)));
  const std::string gone = joined_path(key.directory, key.name);
  std::erase_if(tables_, [&](const auto& table) { return lies_in(table.first, gone); });
  std::erase_if(ours_, [&](const std::string& path) { return lies_in(path, gone); });
  return {};
}

// Renames keys of one directory, each when its new name is free. Another key may have to leave that name first.
Result<> Committer::rename_keys(std::vector<CommitWork::Rename> waiting) {
  std::set<std::string> taken;
  for (const CommitWork::Rename& key : waiting) taken.insert(key.from.name);
  while (!waiting.empty()) {
    const auto next = std::ranges::find_if(waiting, [&](const auto& key) { return !taken.contains(key.to.name); });
    if (next == waiting.end()) {  // a cycle: one key gets a temporary name
      CommitWork::Rename& first = waiting.front();
      CommitWork::Key aside = first.from;
      aside.name = "~";
      auto done = rename({first.from, aside});
      for (; !done && done.error().kind == ErrorKind::exists; done = rename({first.from, aside})) aside.name += "~";
      TRY_VOID(std::move(done));
      taken.erase(first.from.name);
      first.from = std::move(aside);
      continue;
    }
    TRY_VOID(rename(*next));
    taken.erase(next->from.name);
    waiting.erase(next);
  }
  return {};
}

// From the root downward, since keys below a renamed directory are given by its new name. In each directory removals
// come first, since they may free names.
Result<> Committer::change_names(const CommitWork& work) {
  struct NameChanges {
    std::vector<std::string> removed;
    std::vector<CommitWork::Rename> renamed;
  };
  std::map<std::pair<std::ptrdiff_t, std::string>, NameChanges> by_directory;
  const auto in = [&](const std::string& directory) -> NameChanges& {
    const std::ptrdiff_t depth = directory.empty() ? 0 : 1 + std::ranges::count(directory, '/');
    return by_directory[{depth, directory}];
  };
  for (const CommitWork::Key& key : work.removed) in(key.directory).removed.push_back(key.name);
  for (const CommitWork::Rename& key : work.renamed) in(key.from.directory).renamed.push_back(key);
  for (auto& [at, changes] : by_directory) {
    for (const std::string& name : changes.removed) TRY_VOID(remove({at.second, name}));
    TRY_VOID(rename_keys(std::move(changes.renamed)));
  }
  return {};
}

Result<> Committer::collect(CommitWork& work) {
  TRY_VOID(change_names(work));
  for (const CommitWork::Directory& made : work.directories)
    TRY_VOID(writer_->make_directory(key_path(made.path), datime_or_none(made.modified)));
  FileWrites file(written());
  const PartSink sink{*writer_, &file, cache_.exec().coders, options_.cluster_bytes,
                      [&](std::uint64_t bytes) { left_ -= std::min(left_.load(), bytes); }};
  for (CommitWork::Table& work_of : work.tables) {
    StagedTable& staged = work_of.staged;
    TRY(TableCommit* const into, table(staged.path, staged.committed, staged.title, staged.format));
    for (const std::string& name : staged.removed) {
      const auto typed = tfile::parse_typed_name(name);
      TRY_VOID(into->drop_field(tfile::unescape_name(typed ? typed->stem : name)));
    }
    TRY(work_of.entries, into->write(staged, work_of.entries, work_of.whole, sink));
    TRY_VOID(into->measure(staged, work_of.entries, work_of.whole));
    TRY_VOID(into->set_date(*writer_, datime_or_none(staged.modified)));
  }
  return add_objects(work);
}

Result<> Committer::add_objects(const CommitWork& work) {
  FileWrites file(written());
  for (const StagedObject& object : work.objects) {
    const auto written = [&]() -> Result<> {
      TRY(const tfile::NewObject made, offered_object(object));
      TRY(const auto record,
          writer_->add_object(key_path(split_path(object.path).first), made, datime_or_none(object.modified)));
      tfile::Buffer bytes(record.head.size(), tfile::Use::passing);
      std::ranges::copy(record.head, bytes.data());
      return file.write(record.address, std::move(bytes));
    };
    if (auto done = written(); !done) {
      done.error().text.insert(0, object.path + ": ");
      return done;
    }
  }
  return file.flush();
}

Result<> Committer::commit(CommitWork& work, Journal& journal, std::vector<std::byte>& head,
                           const std::function<void()>& switching) {
  left_ = 0;
  for (const CommitWork::Table& table : work.tables) {
    for (const StagedColumn& column : table.staged.columns) left_ += column.size - std::min(column.size, column.base);
  }
  const auto done = [&]() -> Result<> {
    TRY_VOID(prepare());
    if (takes_away(work)) TRY_VOID(leave_other_names());
    TRY_VOID(collect(work));
    TRY(const CommitPlan plan, writer_->plan(tfile::datime_of(std::time(nullptr))));
    if (!plan.steps.empty()) {
      TRY_VOID(journal_cuts(work));
      TRY_VOID(apply(plan, intention_of(plan, work), journal, switching));
    }
    writer_->committed(plan);
    if (!plan.steps.empty()) head = head_ = plan.head_after;
    untidy_ = !work.empty();
    seen_ = identity();
    // A file without keys is made anew when keys are added. And what was read of a file that other names have is not
    // of this one.
    if (writer_->makes_new_file() || leaves_names_) give_up();
    // A table that has lost fields is read again, since entries are added to the fields in the file.
    if (loses_columns(work) && writer_) give_up();
    return {};
  }();
  left_ = 0;
  if (!done) {
    give_up();
    return done;
  }
  for (const CommitWork::Table& table : work.tables) ours_.insert(table.staged.path);
  for (auto& [path, table] : tables_) table.note_commit();
  return {};
}

// The file stays under its other names (hard links): this name gets a copy, and the copy is changed.
Result<> Committer::leave_other_names() {
  struct stat status {};
  if (made_ || ::fstat(file_.get(), &status) != 0 || status.st_nlink < 2) return {};
  TRY(made_, NewFile::make(*place_, place_->owner().value_or(maker_)));
  leaves_names_ = true;
  return made_->copy_from(file_.get());
}

// Another program may have written the file: only tfilefs respects our lock.
Result<> Committer::check_head(std::span<const std::byte> known) const {
  const auto head = read_at(file_.get(), 0, known.size());
  if (head && is_same_head(*head, known)) return {};
  return fail(ErrorKind::stale, place_->shown + ": another program has changed the file");
}

Result<> Committer::apply(const CommitPlan& plan, JournalRecord intention, Journal& journal,
                          const std::function<void()>& switching) {
  if (leaves_names_) {
    TRY_VOID(check_head(plan.head_before));
    if (seen_ != identity()) return fail(ErrorKind::stale, place_->shown + ": another program has changed the file");
    if (plan.replace_file) made_.reset();  // nothing of the copy is left in it
  }
  if (made_ || plan.replace_file) return replace_file(plan, std::move(intention), journal, switching);
  TRY_VOID(check_head(plan.head_before));
  TRY_VOID(journal.append(intention));
  TRY_VOID(journal.sync());
  bool synced = false;  // the writes after the first barrier are those that readers use
  for (const CommitStep& step : plan.steps) {
    auto done =
        step.kind == CommitStep::Kind::sync ? sync_data(file_.get()) : write_all(file_.get(), step.offset, step.bytes);
    if (!done) {
      lost_ = synced;
      return done;
    }
    if (step.kind == CommitStep::Kind::sync && !std::exchange(synced, true)) switching();
  }
  return {};
}

// A file without keys must never be seen (docs/reliability.md), so it has its name when it is complete.
Result<> Committer::replace_file(const CommitPlan& plan, JournalRecord intention, Journal& journal,
                                 const std::function<void()>& switching) {
  if (!made_) {
    TRY(made_, NewFile::make(*place_, place_->owner().value_or(maker_)));
  }
  for (const CommitStep& step : plan.steps) {
    if (step.kind == CommitStep::Kind::write) TRY_VOID(write_all(made_->get(), step.offset, step.bytes));
  }
  TRY(intention.intention.before, head_in_place(plan.head_after.size()));
  TRY_VOID(journal.append(intention));
  TRY_VOID(journal.sync());
  switching();
  if (auto done = made_->publish(*place_); !done) {
    const auto head = head_in_place(plan.head_after.size());
    lost_ = !head || *head == plan.head_after;  // it has its name, but perhaps not durably
    return done;
  }
  file_ = made_->release();
  made_.reset();
  return {};
}

Result<std::vector<std::byte>> Committer::head_in_place(std::size_t size) const {
  auto file = place_->open_to_write();
  if (file) return read_at(file->get(), 0, size);
  if (file.error().kind == ErrorKind::not_found) return std::vector<std::byte>();
  return tl::unexpected(std::move(file).error());
}

}  // namespace tfilefs
