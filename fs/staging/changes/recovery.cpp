// SPDX-License-Identifier: Apache-2.0
#include "staging/changes/recovery.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <set>
#include <tuple>

#include "staging/changes/date_record.h"
#include "tfile/name.h"
#include "tfile/writer.h"

namespace tfilefs {

using tfile::fail;

namespace {

tl::unexpected<Error> contradiction(const JournalRecord& record, const char* what) {
  return fail(ErrorKind::damaged,
              "journal: " + std::string(what) + ": " + (record.text.empty() ? std::to_string(record.id) : record.text));
}

tl::unexpected<Error> nests_too_deeply() {
  return fail(ErrorKind::damaged,
              "journal: directories are nested deeper than a path of " + std::to_string(PATH_MAX) + " bytes can name");
}

class Restorer {
 public:
  using NewBytes = std::function<std::shared_ptr<StagedBytes>(std::uint64_t, std::uint64_t)>;
  // `file_changed`: commits in the records have changed the file.
  Restorer(const NodePtr& root, const tfile::File* file, bool file_changed, const NewBytes& new_bytes);

  // A record of an intention must be of a commit that took place.
  Result<> take(const JournalRecord& record);

  // Detaches files whose bytes are all in the file.
  Result<> finish();

  RestoredTree made;

 private:
  // The directory at a path; a node is made for a committed one.
  Result<NodePtr> directory_at(const JournalRecord& record, const std::string& path);

  // The kind of the committed entry there: by its present path, or, if a directory above it was renamed since, by its
  // former one.
  CommittedKind kind_of(const StagedNode& in, const std::string& path, const std::string& name) const;

  // Records use the names of tables and objects from before renames that are committed by now: only the present name
  // tells whether a table is an RNTuple. A table that is gone stays one, so that what is staged in it is reported.
  void find_kinds(const StagedNode& directory) const;
  Result<> create(const JournalRecord& record);
  Result<> white_out(const JournalRecord& record);
  Result<> rename_committed(const JournalRecord& record);

  // Its committed name was hidden when it was moved away.
  Result<> remove_committed(const JournalRecord& record);
  Result<> rename(const NodePtr& node, const JournalRecord& record);
  Result<> change(const NodePtr& node, const JournalRecord& record);

  // A data record may follow the date that was set after those bytes were written: the size tells whether more have
  // come.
  static void set_date(StagedNode& node, const JournalRecord& record);
  void remove(const NodePtr& node);

  // A date that was set on the directory before is no more.
  void names_changed(const NodePtr& directory);

  // Hides the committed part of a removed file.
  static void hide(const NodePtr& node);
  Result<> commit(const Intention& done);

  const NodePtr& root_;
  const tfile::File* const file_;
  const bool file_changed_;
  const NewBytes& new_bytes_;
  std::map<std::uint64_t, NodePtr> nodes_;
  std::map<std::uint64_t, std::uint64_t> committed_;  // id -> bytes
  std::map<std::uint64_t, JournalRecord> dates_;      // the last one of each
};

Restorer::Restorer(const NodePtr& root, const tfile::File* file, bool file_changed, const NewBytes& new_bytes)
    : root_(root), file_(file), file_changed_(file_changed), new_bytes_(new_bytes) {}

Result<> Restorer::take(const JournalRecord& record) {
  switch (record.kind) {
    case JournalKind::done:
      return {};
    case JournalKind::begin: {
      TRY(JournalBegin begin, begin_of(record));
      made.head = std::move(begin.head);
      return {};
    }
    case JournalKind::create:
      return create(record);
    case JournalKind::whiteout:
      return white_out(record);
    case JournalKind::intend:
      return commit(record.intention);
    case JournalKind::rename:
      if (record.id != 0) break;
      return rename_committed(record);
    case JournalKind::remove:
      if (record.id != 0) break;
      return remove_committed(record);
    default:
      break;
  }
  const auto known = nodes_.find(record.id);
  if (known == nodes_.end()) return contradiction(record, "unknown node number");
  return change(known->second, record);
}

Result<> Restorer::finish() {
  // The path of each record is short enough, but renames on top of renames may have made a longer one.
  if (longest_path(*root_) > PATH_MAX) return nests_too_deeply();
  find_kinds(*root_);
  for (const auto& [id, node] : nodes_) {
    if (!node->bytes) continue;
    node->bytes->replayed();
    const auto committed = committed_.find(id);
    if (committed != committed_.end()) {
      node->base = committed->second;
      node->continues = true;
      // Bytes committed from memory are not in the journal.
      if (node->bytes->size() < node->base) TRY_VOID(node->bytes->truncate(node->base));
      node->bytes->drop_before(node->base);
    } else if (!node->continues) {
      continue;
    }
    if (node->bytes->size() == node->base) detach(node);
  }
  for (const auto& [id, record] : dates_) set_date(*nodes_.at(id), record);
  return {};
}

Result<NodePtr> Restorer::directory_at(const JournalRecord& record, const std::string& path) {
  if (!is_short_path(path)) return nests_too_deeply();
  NodePtr at = root_;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t slash = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, slash - begin);
    const auto known = at->children.find(name);
    NodePtr child = known == at->children.end() ? nullptr : known->second;
    if (!child) {
      const CommittedKind kind = kind_of(*at, path.substr(0, slash), name);
      // If it does not exist, a commit since then may have removed it. If another program has, it is treated as a
      // table: its new columns then depend on a table that is gone, which is reported when they are to be committed.
      const bool was_taken = kind == CommittedKind::nothing && !file_changed_ && !is_in_table(*at);
      child = std::make_shared<StagedNode>(0, true, name, at);
      child->base_name = name;
      child->note_committed(was_taken ? CommittedKind::table : kind);
      at->children[name] = child;
    }
    if (!child->directory) return contradiction(record, "not a directory");
    at = std::move(child);
    begin = slash + 1;
  }
  return at;
}

CommittedKind Restorer::kind_of(const StagedNode& in, const std::string& path, const std::string& name) const {
  if (!file_) return CommittedKind::nothing;
  const CommittedKind now = committed_kind(*file_, path);
  const auto before = committed_path(in);
  if (now != CommittedKind::nothing || !before) return now;
  std::string old;
  for (const std::string& part : *before) old += part + "/";
  return committed_kind(*file_, old + name);
}

void Restorer::find_kinds(const StagedNode& directory) const {
  for (const auto& [name, node] : directory.children) {
    const auto names = node->directory && file_ ? committed_path(*node) : std::nullopt;
    if (!names) continue;
    std::string path;
    for (const std::string& part : *names) path = joined_path(path, part);
    const CommittedKind kind = committed_kind(*file_, path);
    const bool is_written = kind == CommittedKind::table || kind == CommittedKind::rntuple;
    if (!node->is_table || is_written) node->note_committed(kind);
    if (!node->is_table) find_kinds(*node);
  }
}

Result<> Restorer::create(const JournalRecord& record) {
  made.last_id = std::max(made.last_id, record.id);
  if (record.text.empty()) {
    made.makes_file = true;
    return {};
  }
  if (!is_short_path(record.text)) return nests_too_deeply();
  const auto [directory, name] = split_path(record.text);
  TRY(const NodePtr in, directory_at(record, directory));
  if (nodes_.contains(record.id) || name.empty()) return contradiction(record, "created twice");
  const bool is_rntuple = record.file_kind == StagedKind::rntuple;
  auto node =
      std::make_shared<StagedNode>(record.id, is_rntuple || record.file_kind == StagedKind::directory, name, in);
  node->format = is_rntuple ? tfile::TableFormat::rntuple : tfile::TableFormat::tree;
  if (!node->directory) {
    node->format = root_->format;
    node->bytes = new_bytes_(record.id, record.offset);
    node->base = record.offset;
    node->continues = record.offset > 0 || record.file_kind == StagedKind::continued;
  }
  node->attributes.mode = node->directory ? 0755 : 0644;
  ::clock_gettime(CLOCK_REALTIME, &node->attributes.modified);
  in->children[name] = node;
  names_changed(in);
  nodes_[record.id] = node;
  return {};
}

Result<> Restorer::white_out(const JournalRecord& record) {
  if (!is_short_path(record.text)) return nests_too_deeply();
  const auto [directory, name] = split_path(record.text);
  TRY(const NodePtr in, directory_at(record, directory));
  // A staged entry would have been removed by its number, so the remaining node is that of the committed one.
  in->children.erase(name);
  in->whiteouts.emplace(name);
  return {};
}

Result<> Restorer::rename_committed(const JournalRecord& record) {
  TRY(const NodePtr node, directory_at(record, record.from));
  return rename(node, record);
}

Result<> Restorer::remove_committed(const JournalRecord& record) {
  TRY(const NodePtr node, directory_at(record, record.text));
  if (node == root_) return contradiction(record, "removes the root");
  remove(node);
  return {};
}

Result<> Restorer::rename(const NodePtr& node, const JournalRecord& record) {
  if (!is_short_path(record.text)) return nests_too_deeply();
  const auto [directory, name] = split_path(record.text);
  TRY(const NodePtr to, directory_at(record, directory));
  if (node == root_ || name.empty()) return contradiction(record, "moved without a new name");
  for (NodePtr above = to; above; above = above->parent.lock()) {
    if (above == node) return contradiction(record, "moved into itself");
  }
  names_changed(node->parent.lock());
  move_node(node, to, name);
  names_changed(to);
  return {};
}

Result<> Restorer::change(const NodePtr& node, const JournalRecord& record) {
  switch (record.kind) {
    case JournalKind::data:
      if (!node->bytes) return contradiction(record, "bytes for a directory");
      return node->bytes->restore(record.offset, record.location);
    case JournalKind::truncate:
      if (!node->bytes) return contradiction(record, "bytes for a directory");
      // Not below the bytes that were committed when it was created.
      return node->bytes->truncate(std::max(record.offset, node->base));
    case JournalKind::title:
      node->attributes.title = record.text;
      return {};
    case JournalKind::encoding:
      node->attributes.encoding = record.text;
      return {};
    case JournalKind::class_name:
      node->attributes.class_name = record.text;
      return {};
    case JournalKind::date:
      dates_[node->id] = record;
      return {};
    case JournalKind::remove:
      remove(node);
      if (committed_.contains(node->id)) hide(node);
      return {};
    case JournalKind::rename:
      return rename(node, record);
    default:
      return contradiction(record, "unknown kind of record");
  }
}

void Restorer::set_date(StagedNode& node, const JournalRecord& record) {
  if (record.offset == kNoDate || (node.bytes && node.bytes->size() != record.size)) return;
  node.attributes.modified = date_of(record);
  node.attributes.time_was_set = true;
}

void Restorer::remove(const NodePtr& node) {
  names_changed(node->parent.lock());
  detach(node);
  node->gone = true;
}

void Restorer::names_changed(const NodePtr& directory) {
  if (directory) dates_.erase(directory->id);
}

void Restorer::hide(const NodePtr& node) {
  if (const NodePtr parent = node->parent.lock()) parent->whiteouts.insert(node->name);
}

Result<> Restorer::commit(const Intention& done) {
  made.head = done.after;
  for (const std::string& path : done.directories) {
    if (const NodePtr node = node_at(root_, path); node && node->directory) became_committed(node);
  }
  for (const std::string& path : done.tables) {
    if (const NodePtr node = node_at(root_, path); node && node->directory) became_table(node);
  }
  for (const std::string& path : done.gone) {
    const auto [directory, name] = split_path(path);
    if (const NodePtr in = node_at(root_, directory)) in->whiteouts.erase(name);
  }
  for (const Intention::Column& column : done.columns) {
    const auto known = nodes_.find(column.id);
    if (known == nodes_.end() || !known->second->bytes) continue;
    const NodePtr& node = known->second;
    committed_[column.id] = column.bytes;
    const NodePtr parent = node->parent.lock();
    if (parent && !fits(*parent, node->name)) return nests_too_deeply();
    if (parent) became_committed(parent);
    if (node->gone) hide(node);  // removed while the commit was under way
  }
  return {};
}

// The first bytes of the file as the next record with that information gives them.
Result<std::vector<std::byte>> head_at(const JournalRecord& record) {
  if (record.kind == JournalKind::intend) return record.intention.before;
  TRY(JournalBegin begin, begin_of(record));
  return std::move(begin.head);
}

}  // namespace

Result<RestoredTree> restore_tree(
    const NodePtr& root, const std::vector<JournalRecord>& records, bool last_took_place, const tfile::File* file,
    const std::function<std::shared_ptr<StagedBytes>(std::uint64_t, std::uint64_t)>& new_bytes) {
  const JournalRecord* intended = nullptr;
  std::set<const JournalRecord*> done;
  for (const JournalRecord& record : records) {
    if (!intended && record.kind != JournalKind::intend) continue;
    if (record.kind == JournalKind::done) done.insert(intended);
    if (record.kind != JournalKind::intend && record.kind != JournalKind::begin) continue;
    TRY(const std::vector<std::byte> head, head_at(record));
    if (intended && is_same_head(intended->intention.after, head)) done.insert(intended);
    intended = record.kind == JournalKind::intend ? &record : nullptr;
  }
  if (intended && last_took_place) done.insert(intended);
  Restorer restorer(root, file, !done.empty(), new_bytes);
  for (const JournalRecord& record : records) {
    if (record.kind != JournalKind::intend || done.contains(&record)) TRY_VOID(restorer.take(record));
  }
  TRY_VOID(restorer.finish());
  return std::move(restorer.made);
}

bool rests_on_committed(const StagedNode& node) {
  if (!node.directory) return node.continues;
  if (!node.whiteouts.empty() || (!node.base_name.empty() && node.base_name != node.name)) return true;
  if (node.is_table && has_changes(node)) return true;
  return std::any_of(node.children.begin(), node.children.end(),
                     [](const auto& child) { return rests_on_committed(*child.second); });
}

void drop_whiteouts_of_nothing(StagedNode& directory, const tfile::File* file) {
  if (const auto names = committed_path(directory); names && directory.directory) {
    std::string path;
    for (const std::string& part : *names) path = joined_path(path, part);
    std::erase_if(directory.whiteouts, [&](const std::string& name) {
      return !file || committed_kind(*file, joined_path(path, name)) == CommittedKind::nothing;
    });
  }
  for (const auto& [name, child] : directory.children) drop_whiteouts_of_nothing(*child, file);
}

const JournalRecord* last_of_commits(const std::vector<JournalRecord>& records) {
  const auto last = std::find_if(records.rbegin(), records.rend(), [](const JournalRecord& record) {
    return record.kind == JournalKind::intend || record.kind == JournalKind::done || record.kind == JournalKind::begin;
  });
  return last == records.rend() || last->kind == JournalKind::begin ? nullptr : &*last;
}

std::optional<FoundKey> find_key(const tfile::File& file, std::string_view path) {
  FoundKey found{file.root(), {}, false};
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string name = tfile::unescape_name(path.substr(0, slash));
    const auto key = std::ranges::find(found.listing->keys, name, &tfile::KeyInfo::name);
    if (key == found.listing->keys.end()) return std::nullopt;
    found.key = *key;
    found.is_whole_path = slash == std::string_view::npos;
    if (found.is_whole_path || key->kind != tfile::KeyKind::directory) return found;
    auto below = file.directory(*key);
    if (!below) return found;
    found.listing = *std::move(below);
    path.remove_prefix(slash + 1);
  }
}

CommittedKind committed_kind(const tfile::File& file, std::string_view path) {
  const auto found = find_key(file, path);
  if (!found) return CommittedKind::nothing;
  if (!found->is_whole_path) return CommittedKind::other;
  switch (found->key.kind) {
    case tfile::KeyKind::directory:
      return CommittedKind::directory;
    case tfile::KeyKind::table:
      if (!found->key.can_change) return CommittedKind::fixed_table;
      return found->key.format == tfile::TableFormat::tree ? CommittedKind::table : CommittedKind::rntuple;
    case tfile::KeyKind::object:
      return CommittedKind::object;
  }
  return CommittedKind::other;
}

namespace {

// If the head is written, so is all that the switches refer to.
Result<> finish_switches(int fd, const Intention& intention) {
  bool changed = false;
  for (const Intention::Patch& patch : intention.switches) {
    TRY(const auto there, read_at(fd, patch.offset, patch.bytes.size()));
    if (there == patch.bytes) continue;
    TRY_VOID(write_all(fd, patch.offset, patch.bytes));
    changed = true;
  }
  return changed ? sync_data(fd) : Result<>();
}

}  // namespace

Result<Mended> mend_head(const FilePlace& place, const std::vector<JournalRecord>& records) {
  const JournalRecord* const last = last_of_commits(records);
  if (!last) return Mended{};
  if (last->kind == JournalKind::done) return Mended{false, true};
  const auto& [before, after] = std::tie(last->intention.before, last->intention.after);
  auto file = place.open_to_write();
  if (!file) {
    if (file.error().kind == ErrorKind::not_found) return Mended{};
    return tl::unexpected(std::move(file).error());
  }
  TRY(const std::vector<std::byte> head, read_at(file->get(), 0, std::max(before.size(), after.size())));
  switch (tfile::head_state(head, before, after)) {
    case tfile::HeadState::before:
      return Mended{};
    case tfile::HeadState::after:
      TRY_VOID(finish_switches(file->get(), last->intention));
      return Mended{false, true};
    case tfile::HeadState::other:
      return fail(ErrorKind::stale, place.shown + ": another program has changed the file since the crash");
    case tfile::HeadState::torn:
      break;
  }
  TRY_VOID(write_all(file->get(), 0, after));
  TRY_VOID(sync_data(file->get()));
  TRY_VOID(finish_switches(file->get(), last->intention));
  return Mended{true, true};
}

}  // namespace tfilefs
