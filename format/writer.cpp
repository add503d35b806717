// SPDX-License-Identifier: Apache-2.0
#include "tfile/writer.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <utility>

#include "bytes/cursor.h"
#include "bytes/endian.h"
#include "container/commit_draft.h"
#include "container/container_state.h"
#include "container/directory.h"
#include "container/header.h"
#include "container/key.h"
#include "container/payload.h"
#include "container/recorded_table.h"
#include "container/space.h"
#include "ntuple/copy/ntuple_copy.h"
#include "ntuple/ntuple_table.h"
#include "ntuple/write/ntuple_writer.h"
#include "streamer/info/needed_descriptions.h"
#include "streamer/info/object_append.h"
#include "streamer/info/streamer_info_record.h"
#include "tfile/new_object.h"
#include "tfile/table_copy.h"
#include "tree/copy/tree_copy.h"
#include "tree/write/tree_writer.h"

namespace tfile {
namespace {

// An upper bound for everything that a commit writes besides the records of its tables and the lists of keys:
// StreamerInfo, free list, directories.
constexpr std::uint64_t kOtherRecordsMax = 16 << 20;

// ROOT's last possible cycle. A record that replaces one with this cycle keeps it.
constexpr std::int16_t kCycleMax = 32'767;

KeyHeader parsed(const ListedKey& key) {
  Cursor in(key.bytes);
  return read_key(in);
}

// A key whose record the next commit will write.
ListedKey key_to_come(std::string_view class_name, std::string_view name) {
  ListedKey key;
  key.class_name = class_name;
  key.name = name;
  return key;
}

// The key with another name in the list. The record keeps its own name.
ListedKey renamed(const ListedKey& key, std::string_view name) {
  if (key.bytes.empty()) return key_to_come(key.class_name, name);
  KeyHeader header = parsed(key);
  header.name = name;
  Appender bytes;
  append_key(bytes, header);
  // Copies the addresses unchanged: read_key keeps only part of the second one.
  ListedKey changed = key;
  changed.bytes = bytes.take();
  std::copy_n(key.bytes.begin(), key_strings_begin(header.version), changed.bytes.begin());
  changed.name = name;
  return changed;
}

std::array<std::uint8_t, 16> random_uuid() {
  std::random_device random;
  std::array<std::uint8_t, 16> uuid;
  for (std::uint8_t& byte : uuid) byte = static_cast<std::uint8_t>(random());
  return uuid;
}

// A table being written, and its key.
struct TableOfFile {
  std::size_t directory = 0;
  std::string name, title;
  std::unique_ptr<RecordedTable> recorded;
  std::int16_t cycle = 1;        // of its key
  std::uint32_t datime = 0;      // of its next key; 0: the date of the commit
  bool keeps_old_cycle = false;  // the next record does not replace the existing one
  bool removed = false;
  // The state of the table in the file, and the directory of its key; nullopt if there is none.
  std::optional<std::pair<std::uint64_t, std::size_t>> written;
};

// The keylen of the table's record: tags in that record count from the start of its key.
std::uint32_t table_keylen(const CommitDraft& draft, const TableOfFile& table) {
  return draft.keylen({table.recorded->class_name(), table.name, table.title, table.cycle, 0, table.datime});
}

// A changed table and its new record.
struct TableRecord {
  TableOfFile* table;
  RecordedTable::Draft draft;
};

// The records of a table beside that of its key.
class PlacesInDraft final : public RecordPlaces {
 public:
  PlacesInDraft(CommitDraft& draft, bool keeps_old_cycle) : draft_(draft), keeps_old_cycle_(keeps_old_cycle) {}

  Result<Placed> add_blob(std::span<const std::byte> payload) override {
    CommitDraft::NewKey key{"RBlob", "", ""};
    key.directory_seek = draft_.state().directories.front().own.begin;
    TRY(const ListedKey listed, draft_.add_record(key, payload));
    const ByteRange record = listed.record;
    return Placed{record, {record.begin + listed.keylen, record.size - listed.keylen}};
  }
  void release(ByteRange record) override {
    if (!keeps_old_cycle_) draft_.release(record);
  }

 private:
  CommitDraft& draft_;
  const bool keeps_old_cycle_;
};

class RootFileWriter final : public FileWriter {
 public:
  RootFileWriter(ContainerState state, Space space, StreamerInfoRecord infos, const Compression& compression,
                 std::shared_ptr<const File> file)
      : file_(std::move(file)),
        compression_(compression),
        state_(std::move(state)),
        space_(std::move(space)),
        infos_(std::move(infos)) {
    if (is_empty()) start_anew();
  }

  bool makes_new_file() const override { return state_.makes_new_file; }
  Result<> make_directory(std::string_view path, std::uint32_t datime, std::string_view title) override;
  Result<> remove_key(std::string_view directory, std::string_view name, int cycle) override;
  Result<> rename_key(std::string_view directory, std::string_view name, std::string_view new_directory,
                      std::string_view new_name) override;
  Result<TableWriter*> create_table(std::string_view directory, std::string name, std::string title,
                                    TableFormat format) override;
  Result<TableWriter*> open_table(std::string_view directory, std::string_view name, OldCycle old_cycle) override;
  Result<> date_table(TableWriter* table, std::uint32_t datime) override;
  Result<CopiedKey> add_object(std::string_view directory, const NewObject& object, std::uint32_t datime) override;
  Result<> take_classes(const File& file) override;
  Result<CopiedKey> copy_key(std::string_view directory, std::span<const std::byte> head) override;
  Result<CopiedKey> copy_changed_key(std::string_view directory, std::span<const std::byte> head,
                                     std::span<const std::byte> payload) override;
  Result<TableCopy*> copy_table(std::string_view directory, std::string name, const KeyInfo& first,
                                const CopyOptions& options) override;
  std::uint64_t place(std::uint64_t size) override;
  Result<CommitPlan> plan(std::uint32_t now) override;
  void committed(const CommitPlan& plan) override;

 private:
  const Source* source() const { return file_ ? &file_->source() : nullptr; }
  Result<std::size_t> find_directory(std::string_view path);
  Result<std::size_t> child(std::size_t parent, std::string_view name);
  Result<std::size_t> child_of(std::size_t parent, const ListedKey& key);
  Result<> check_new_name(std::size_t directory, std::string_view name) const;
  Result<> check_copied_name(std::size_t directory, std::string_view name) const;
  Result<> remove_keys(std::size_t index, const std::string& name, int cycle);
  Result<> remove_directory(std::size_t parent, const ListedKey& key);
  Result<> rename_directory(std::size_t from, const ListedKey& key, std::size_t to, std::string_view new_name);
  TableOfFile* table_at(std::size_t directory, std::string_view name);
  Result<TableOfFile*> table_of(const TableWriter* writer);
  Result<TableOfFile*> table_to_rename(std::size_t directory, const ListedKey& key);
  Result<TableOfFile> read_table(std::size_t directory, const ListedKey& key);
  TreePlace tree_place(std::string_view name, std::string_view title) const;
  BlobPlace blob_place() const;
  void describe_streamed(SchemaRecords&) const;  // BlobPlace::describe

  Result<std::vector<TableRecord>> changed_tables(const CommitDraft& draft) const;
  Result<std::vector<TableRecord>> start_draft(std::uint32_t now);
  Result<> write_table(TableRecord& record);
  Result<> write_infos();
  Result<CommitPlan> finish_draft();
  bool is_changed() const;
  bool is_empty() const { return state_.directories.front().keys.empty(); }
  void start_anew();
  void drop_draft();

  const std::shared_ptr<const File> file_;  // as it was when opened; none for a new file
  const Compression compression_;
  ContainerState state_;
  Space space_;
  StreamerInfoRecord infos_;
  std::vector<std::unique_ptr<TableOfFile>> tables_;
  // The classes of objects that the next commit adds, and their descriptions.
  struct AddedClasses {
    std::vector<std::string> names;
    std::shared_ptr<const StreamerInfos> infos;
  };
  std::vector<AddedClasses> added_classes_;

  // The state to which the last plan leads.
  std::optional<CommitDraft> draft_;
  StreamerInfoRecord draft_infos_;
  std::vector<TableRecord> draft_tables_;
};

Result<std::size_t> RootFileWriter::child(std::size_t parent, std::string_view name) {
  const ListedKey* key = newest_key(state_.directories[parent], name);
  if (key == nullptr || !is_directory_class(key->class_name))
    return fail(ErrorKind::not_found, "no directory '" + std::string(name) + "'");
  return child_of(parent, *key);
}

// The directory of a key, which a newer cycle of its name may hide.
Result<std::size_t> RootFileWriter::child_of(std::size_t parent, const ListedKey& key) {
  for (std::size_t i = 1; i < state_.directories.size(); ++i) {
    const DirectoryState& one = state_.directories[i];
    const bool is_known = !one.removed && one.parent == parent && one.name == key.name;
    if (is_known && one.own.begin == key.record.begin) return i;
  }
  TRY(DirectoryState directory, read_directory_state(file_->source(), key));
  for (const DirectoryState& one : state_.directories) {
    if (!one.removed && one.own.begin == directory.own.begin)
      return fail(ErrorKind::damaged,
                  "directory '" + std::string(key.name) + "' is listed twice, also as '" + std::string(one.name) + "'",
                  static_cast<std::int64_t>(one.own.begin));
  }
  directory.parent = parent;
  directory.name = key.name;
  state_.directories.push_back(std::move(directory));
  return state_.directories.size() - 1;
}

Result<std::size_t> RootFileWriter::find_directory(std::string_view path) {
  std::size_t at = 0;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    TRY(at, child(at, path.substr(0, end)));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

Result<> RootFileWriter::check_new_name(std::size_t directory, std::string_view name) const {
  if (name.empty() || name.find('/') != std::string_view::npos)
    return fail(ErrorKind::invalid, "'" + std::string(name) + "' cannot be the name of a key");
  return check_copied_name(directory, name);
}

// ROOT's programs write keys that no path leads to: with a slash in their names, or without a name.
Result<> RootFileWriter::check_copied_name(std::size_t directory, std::string_view name) const {
  if (name.size() > kKeyTextMax)
    return fail(ErrorKind::invalid, "'" + std::string(name) + "' cannot be the name of a key");
  if (newest_key(state_.directories[directory], name) != nullptr)
    return fail(ErrorKind::exists, "key '" + std::string(name) + "' already exists");
  return {};
}

Result<> RootFileWriter::make_directory(std::string_view path, std::uint32_t datime, std::string_view title) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  TRY(const std::size_t parent, find_directory(slash == std::string_view::npos ? "" : path.substr(0, slash)));
  TRY_VOID(check_new_name(parent, name));
  DirectoryState directory;
  directory.class_name = "TDirectory";
  directory.name = name;
  directory.title = title.empty() ? name : title;  // as ROOT's mkdir does
  directory.datime = datime;
  directory.parent = parent;
  directory.record.version = kDirectoryVersion;
  directory.uuid[1] = std::byte{1};
  std::ranges::transform(random_uuid(), directory.uuid.begin() + 2, [](std::uint8_t b) { return std::byte{b}; });
  state_.directories[parent].keys.push_back(key_to_come(directory.class_name, name));
  state_.directories[parent].changed = true;
  state_.directories.push_back(std::move(directory));
  return {};
}

// child_of() fails for a directory that is listed twice, so no directory leads back to one above it.
Result<> RootFileWriter::remove_directory(std::size_t parent, const ListedKey& key) {
  TRY(const std::size_t index, child_of(parent, key));
  while (!state_.directories[index].keys.empty()) {
    const std::string name = state_.directories[index].keys.front().name;
    TRY_VOID(remove_keys(index, name, 0));
  }
  state_.directories[index].removed = true;
  return {};
}

Result<> RootFileWriter::remove_key(std::string_view path, std::string_view name, int cycle) {
  TRY(const std::size_t index, find_directory(path));
  return remove_keys(index, std::string(name), cycle);
}

Result<> RootFileWriter::remove_keys(std::size_t index, const std::string& name, int cycle) {
  const auto is_meant = [&](const ListedKey& key) { return key.name == name && (cycle == 0 || key.cycle == cycle); };
  std::vector<ListedKey> found;
  std::ranges::copy_if(state_.directories[index].keys, std::back_inserter(found), is_meant);
  if (found.empty()) return fail(ErrorKind::not_found, "no key '" + name + "'");
  for (const ListedKey& key : found) {
    if (is_directory_class(key.class_name)) TRY_VOID(remove_directory(index, key));
  }
  TableOfFile* table = table_at(index, name);
  if (table != nullptr && (cycle == 0 || cycle == table->cycle)) table->removed = true;
  DirectoryState& directory = state_.directories[index];
  std::erase_if(directory.keys, is_meant);
  directory.changed = true;
  std::erase_if(found, [](const ListedKey& key) { return key.record.size == 0; });
  std::ranges::move(found, std::back_inserter(state_.removed));
  return {};
}

Result<> RootFileWriter::rename_directory(std::size_t from, const ListedKey& key, std::size_t to,
                                          std::string_view new_name) {
  TRY(const std::size_t moved, child_of(from, key));
  for (std::optional<std::size_t> at = to; at; at = state_.directories[*at].parent) {
    if (*at == moved) return fail(ErrorKind::invalid, "a directory cannot be moved into itself");
  }
  DirectoryState& directory = state_.directories[moved];
  if (directory.datime == 0 && !key.bytes.empty()) directory.datime = parsed(key).datime;
  directory.name = new_name;
  directory.parent = to;
  directory.changed = directory.renamed = true;
  return {};
}

Result<> RootFileWriter::rename_key(std::string_view path, std::string_view name, std::string_view new_path,
                                    std::string_view new_name) {
  TRY(const std::size_t from, find_directory(path));
  TRY(const std::size_t to, find_directory(new_path));
  TRY_VOID(check_new_name(to, new_name));
  std::vector<ListedKey> keys;
  std::ranges::copy_if(state_.directories[from].keys, std::back_inserter(keys),
                       [&](const ListedKey& key) { return key.name == name; });
  if (keys.empty()) return fail(ErrorKind::not_found, "no key '" + std::string(name) + "'");
  for (const ListedKey& key : keys) {
    if (is_directory_class(key.class_name)) TRY_VOID(rename_directory(from, key, to, new_name));
  }
  const ListedKey newest = *newest_key(state_.directories[from], name);
  if (!is_directory_class(newest.class_name)) {
    TRY(TableOfFile * table, table_to_rename(from, newest));
    if (table != nullptr) {
      if (table->datime == 0 && !newest.bytes.empty()) table->datime = parsed(newest).datime;
      table->recorded->rename(std::string(new_name));
      table->name = new_name;
      table->directory = to;
    }
  }
  for (ListedKey& key : keys) key = renamed(key, new_name);
  std::erase_if(state_.directories[from].keys, [&](const ListedKey& key) { return key.name == name; });
  std::ranges::move(keys, std::back_inserter(state_.directories[to].keys));
  state_.directories[from].changed = state_.directories[to].changed = true;
  if (from != to) state_.directories[from].together = state_.directories[to].together = true;
  return {};
}

TableOfFile* RootFileWriter::table_at(std::size_t directory, std::string_view name) {
  for (const auto& table : tables_) {
    if (!table->removed && table->directory == directory && table->name == name) return table.get();
  }
  return nullptr;
}

Result<TableOfFile*> RootFileWriter::table_of(const TableWriter* writer) {
  const auto found =
      std::ranges::find_if(tables_, [&](const auto& table) { return table->recorded->writer() == writer; });
  if (found == tables_.end()) return fail(ErrorKind::invalid, "not a table of this file");
  return found->get();
}

// The table to rename, whose record is written again with its new name; nullopt for a table that cannot be rewritten.
Result<TableOfFile*> RootFileWriter::table_to_rename(std::size_t directory, const ListedKey& key) {
  if (TableOfFile* table = table_at(directory, key.name)) return table;
  if (key.class_name != "TTree") return nullptr;
  auto table = read_table(directory, key);
  if (!table && table.error().kind == ErrorKind::io) return tl::unexpected<Error>(std::move(table).error());
  if (!table) return nullptr;
  tables_.push_back(std::make_unique<TableOfFile>(*std::move(table)));
  return tables_.back().get();
}

std::uint32_t datime_of_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return datime_of(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

TreePlace RootFileWriter::tree_place(std::string_view name, std::string_view title) const {
  return {state_.directories.front().own.begin, std::string(name), std::string(title), compression_, datime_of_now()};
}

BlobPlace RootFileWriter::blob_place() const {
  return {state_.directories.front().own.begin, compression_, datime_of_now(),
          [this](SchemaRecords& schema) { describe_streamed(schema); },
          [this](ByteRange range) { return space_.is_taken(range); }};
}

// The descriptions are an object on its own: a TList, behind the name of its class.
void RootFileWriter::describe_streamed(SchemaRecords& schema) const {
  std::vector<std::string> classes;
  for (FieldRecord& field : schema.fields) {
    if (field.role != FieldRole::streamer) continue;
    classes.push_back(field.type_name);
    const StreamerInfo* info = infos_.infos->newest(field.type_name);
    if (info == nullptr) continue;
    field.type_version = static_cast<std::uint32_t>(info->version);
    field.type_checksum = info->checksum;
  }
  const std::vector<const StreamerInfo*> infos = needed_descriptions(*infos_.infos, classes);
  if (infos.empty()) return;
  ObjectAppender head(0);
  const std::size_t opened = head.open_pointer("TList");
  const auto size = static_cast<std::uint32_t>(head.span().size());
  head.bytes(encode_streamer_infos(infos, size));
  head.close(opened);
  const std::vector<std::byte> object = head.take();
  schema.streamer_infos.assign(reinterpret_cast<const char*>(object.data()), object.size());
}

Result<TableWriter*> RootFileWriter::create_table(std::string_view path, std::string name, std::string title,
                                                  TableFormat format) {
  TRY(const std::size_t index, find_directory(path));
  TRY_VOID(check_new_name(index, name));
  if (name.size() + title.size() > kKeyTextMax) return fail(ErrorKind::invalid, "the title is too long for a key");
  auto table = std::make_unique<TableOfFile>();
  table->directory = index;
  if (format == TableFormat::tree) {
    table->recorded = TreeWriter::create(tree_place(name, title));
  } else {
    table->recorded = NtupleWriter::create(blob_place(), name, title);
  }
  state_.directories[index].keys.push_back(key_to_come(table->recorded->class_name(), name));
  state_.directories[index].changed = true;
  table->name = std::move(name);
  table->title = std::move(title);
  tables_.push_back(std::move(table));
  return tables_.back()->recorded->writer();
}

Result<TableOfFile> RootFileWriter::read_table(std::size_t directory, const ListedKey& key) {
  TRY(const RecordContent record, read_record(file_->source(), key.record));
  TableOfFile table;
  table.directory = directory;
  table.name = key.name;
  table.title = parsed(key).title;
  table.cycle = key.cycle;
  if (is_ntuple(key.class_name)) {
    TRY(table.recorded, NtupleWriter::open(blob_place(), file_->shared_source(), record.payload.span()));
  } else {
    TRY(table.recorded, TreeWriter::open(tree_place(key.name, ""), record.payload.span(), record.keylen, key.class_name,
                                         *infos_.infos, file_->source()));
  }
  const CommitDraft unchanged(state_, space_, compression_, 0, state_.header.big);
  TRY(const RecordedTable::Draft draft, table.recorded->draft(table_keylen(unchanged, table)));
  table.written = {draft.state, directory};
  return table;
}

Result<TableWriter*> RootFileWriter::open_table(std::string_view path, std::string_view name, OldCycle old_cycle) {
  TRY(const std::size_t index, find_directory(path));
  if (TableOfFile* table = table_at(index, name)) return table->recorded->writer();
  const ListedKey* key = newest_key(state_.directories[index], name);
  if (key == nullptr) return fail(ErrorKind::not_found, "no key '" + std::string(name) + "'");
  if (is_directory_class(key->class_name) || !file_)
    return fail(ErrorKind::unsupported, "'" + std::string(name) + "' is not a table");
  TRY(TableOfFile table, read_table(index, *key));
  table.keeps_old_cycle = old_cycle == OldCycle::kept;
  tables_.push_back(std::make_unique<TableOfFile>(std::move(table)));
  return tables_.back()->recorded->writer();
}

Result<> RootFileWriter::date_table(TableWriter* writer, std::uint32_t datime) {
  TRY(TableOfFile * table, table_of(writer));
  table->datime = datime;
  return {};
}

// Adds the description if `known` lacks it, and it is not in `into` yet.
void add_if_missing(const StreamerInfo& info, const StreamerInfos& known, std::vector<const StreamerInfo*>& into) {
  const auto is_same = [&](const StreamerInfo& other) {
    return other.class_name == info.class_name && other.version == info.version && other.checksum == info.checksum;
  };
  const bool is_known = std::ranges::any_of(known.from_file(), [&](const auto& other) { return is_same(*other); }) ||
                        std::ranges::any_of(into, [&](const StreamerInfo* other) { return is_same(*other); });
  if (!is_known) into.push_back(&info);
}

void add_missing(const StreamerInfos& from, const StreamerInfos& known, std::vector<const StreamerInfo*>& into) {
  for (const auto& info : from.from_file()) add_if_missing(*info, known, into);
}

KeyHeader key_of(const NewObject& object, bool wide) {
  KeyHeader key;
  key.version = static_cast<std::int16_t>(kKeyVersion + (wide ? kWideVersion : 0));
  key.cycle = 1;
  key.class_name = object.class_name;
  key.name = object.name;
  key.title = object.title;
  return key;
}

Result<FileWriter::CopiedKey> RootFileWriter::add_object(std::string_view path, const NewObject& object,
                                                         std::uint32_t datime) {
  TRY(const std::size_t index, find_directory(path));
  TRY_VOID(check_new_name(index, object.name));
  if (object.class_name.size() + object.name.size() + object.title.size() > kKeyTextMax)
    return fail(ErrorKind::invalid, "'" + object.name + "': its title is too long for a key");
  const std::uint64_t end = space_.end() + object.payload.size() + kOtherRecordsMax;
  KeyHeader key = key_of(object, state_.header.big || end > kNarrowAddressMax);
  key.datime = datime != 0 ? datime : datime_of_now();
  // A key may be longer than its strings: so references in the payload keep their meaning.
  const auto own_size = static_cast<std::uint32_t>(key_size(key));
  key.keylen = static_cast<std::int16_t>(std::max(own_size, object.keylen));
  std::vector<std::byte> payload;
  if (object.keylen != 0 && own_size > object.keylen) {
    TRY(payload, payload_of_key(object, own_size));
  }
  TRY(const std::vector<std::byte> stored,
      stored_payload(payload.empty() ? std::span(object.payload) : std::span(payload), compression_));
  const std::uint64_t size = static_cast<std::uint64_t>(key.keylen) + stored.size();
  key.nbytes = static_cast<std::int32_t>(size);
  key.objlen = static_cast<std::int32_t>(object.payload.size());
  key.seek = static_cast<std::int64_t>(place(size));
  Appender record;
  append_key(record, key);
  record.zeros(static_cast<std::size_t>(key.keylen) - own_size);
  record.bytes(stored);
  ListedKey listed = listed_key(key);
  listed.is_copied = listed.written_here = true;
  state_.directories[index].keys.push_back(std::move(listed));
  state_.directories[index].changed = true;
  added_classes_.push_back({object.classes, object.infos});
  return CopiedKey{static_cast<std::uint64_t>(key.seek), record.take()};
}

Result<> RootFileWriter::take_classes(const File& file) {
  TRY(StreamerInfoRecord other, read_streamer_info_record(file.source(), file.header()));
  if (other.payload.empty()) return {};
  if (infos_.payload.empty()) {
    infos_ = std::move(other);
    return {};
  }
  std::vector<const StreamerInfo*> missing;
  add_missing(*other.infos, *infos_.infos, missing);
  if (missing.empty()) return {};
  TRY(std::vector<std::byte> payload, add_streamer_infos(infos_.payload, missing, infos_.keylen));
  infos_ = streamer_info_record(std::move(payload), infos_.keylen);
  return {};
}

Result<FileWriter::CopiedKey> RootFileWriter::copy_key(std::string_view path, std::span<const std::byte> head) {
  TRY(const std::size_t index, find_directory(path));
  Cursor in(head);
  KeyHeader key = read_key(in);
  TRY_VOID(in.finish());
  if (!is_record(key) || static_cast<std::size_t>(key.keylen) != head.size())
    return fail(ErrorKind::damaged,
                "not a record key: " + sizes_of(key) + ", key has " + std::to_string(head.size()) + " bytes");
  TRY_VOID(check_copied_name(index, key.name));
  const ByteRange record = space_.take_last(static_cast<std::uint64_t>(key.nbytes));
  CopiedKey copied{record.begin, {head.begin(), head.end()}};
  if (!put_key_address(copied.head, record))
    return fail(ErrorKind::unsupported,
                "'" + std::string(key.name) + "': its key has no room for addresses above 2 GB");
  key.seek = static_cast<std::int64_t>(record.begin);
  ListedKey listed = listed_key(key);
  // Bits above the address of the directory, which read_key leaves out.
  std::copy_n(copied.head.begin(), key_strings_begin(key.version), listed.bytes.begin());
  listed.is_copied = listed.written_here = true;
  state_.directories[index].keys.push_back(std::move(listed));
  state_.directories[index].changed = true;
  return copied;
}

Result<FileWriter::CopiedKey> RootFileWriter::copy_changed_key(std::string_view path, std::span<const std::byte> head,
                                                               std::span<const std::byte> payload) {
  TRY(const std::vector<std::byte> stored, stored_payload(payload, compression_));
  std::vector<std::byte> key(head.begin(), head.end());
  if (key.size() < kKeyFixedSize)
    return fail(ErrorKind::damaged, "not a record key: " + std::to_string(key.size()) + " bytes, expected at least " +
                                        std::to_string(kKeyFixedSize));
  put_key_sizes(key, stored.size(), payload.size());
  TRY(CopiedKey copied, copy_key(path, key));
  copied.head.insert(copied.head.end(), stored.begin(), stored.end());
  return copied;
}

Result<TableCopy*> RootFileWriter::copy_table(std::string_view path, std::string name, const KeyInfo& first,
                                              const CopyOptions& options) {
  TRY(const std::size_t index, find_directory(path));
  TRY_VOID(check_copied_name(index, name));
  auto table = std::make_unique<TableOfFile>();
  table->directory = index;
  table->title = first.title;
  if (is_ntuple(first.class_name)) {
    table->recorded = std::make_unique<NtupleCopy>(blob_place(), options);
  } else {
    table->recorded =
        std::make_unique<TreeCopy>(tree_place(name, table->title), std::string(first.class_name), options);
  }
  state_.directories[index].keys.push_back(key_to_come(first.class_name, name));
  state_.directories[index].changed = true;
  table->name = std::move(name);
  tables_.push_back(std::move(table));
  return tables_.back()->recorded->copy();
}

std::uint64_t RootFileWriter::place(std::uint64_t size) {
  // While a plan is being carried out, the segments that it marks free are not used for parts.
  return space_.take_for_part(size, draft_.has_value()).begin;
}

// Records of the tables that differ from those in the file.
Result<std::vector<TableRecord>> RootFileWriter::changed_tables(const CommitDraft& draft) const {
  std::vector<TableRecord> changed;
  for (const auto& table : tables_) {
    if (table->removed) continue;
    TRY(RecordedTable::Draft state, table->recorded->draft(table_keylen(draft, *table)));
    if (table->written != std::pair(state.state, table->directory)) changed.push_back({table.get(), std::move(state)});
  }
  return changed;
}

// Starts a draft and collects its table records. Uses addresses of 8 bytes if the file may exceed 2 GB.
Result<std::vector<TableRecord>> RootFileWriter::start_draft(std::uint32_t now) {
  for (bool wide : {state_.header.big, true}) {
    draft_.emplace(state_, space_, compression_, now, wide);
    TRY(std::vector<TableRecord> records, changed_tables(*draft_));
    std::uint64_t end = space_.end() + kOtherRecordsMax;
    for (const TableRecord& record : records) end += record.draft.size;
    for (const DirectoryState& directory : state_.directories) {
      for (const ListedKey& key : directory.keys) end += key.bytes.size();
    }
    if (wide || end <= kNarrowAddressMax) return records;
  }
  return {};
}

Result<> RootFileWriter::write_table(TableRecord& record) {
  TableOfFile& table = *record.table;
  DirectoryState& directory = draft_->directory(table.directory);
  auto old = std::ranges::find_if(
      directory.keys, [&](const ListedKey& key) { return key.name == table.name && key.cycle == table.cycle; });
  PlacesInDraft places(*draft_, table.keeps_old_cycle);
  TRY(const std::vector<std::byte> payload, table.recorded->place(std::move(record.draft), places));
  CommitDraft::NewKey key{table.recorded->class_name(), table.name,  table.title, table.cycle,
                          directory.own.begin,          table.datime};
  if (old->record.size != 0 && key.cycle < kCycleMax) ++key.cycle;
  TRY(ListedKey listed, draft_->add_record(key, payload));
  if (table.keeps_old_cycle) {
    insert_key(directory, std::move(listed));
  } else {
    draft_->release(old->record);
    *old = std::move(listed);
  }
  return {};
}

Result<> RootFileWriter::write_infos() {
  std::vector<std::string> classes;
  for (const TableRecord& record : draft_tables_) {
    std::ranges::move(record.table->recorded->classes(), std::back_inserter(classes));
  }
  for (const AddedClasses& added : added_classes_) std::ranges::copy(added.names, std::back_inserter(classes));
  draft_infos_ = infos_;
  auto missing = missing_streamer_infos(classes, *infos_.infos);
  for (const TableRecord& record : draft_tables_) {
    for (const StreamerInfo* made : record.table->recorded->made_classes())
      add_if_missing(*made, *infos_.infos, missing);
  }
  for (const AddedClasses& added : added_classes_) add_missing(*added.infos, *infos_.infos, missing);
  if (missing.empty() && draft_->state().streamer_info.size != 0) return {};
  CommitDraft::NewKey key{"TList", "StreamerInfo", "", 1, state_.directories.front().own.begin};
  const std::uint32_t old_keylen = infos_.payload.empty() ? 0 : infos_.keylen;
  TRY(const std::string title, streamer_info_title(old_keylen, draft_->keylen(key)));
  key.title = title;
  const std::uint32_t keylen = draft_->keylen(key);
  std::vector<std::byte> payload;
  if (infos_.payload.empty()) {
    payload = encode_streamer_infos(missing, keylen);
  } else {
    TRY(payload, add_streamer_infos(infos_.payload, missing, keylen));
  }
  TRY(const ListedKey record, draft_->add_record(key, payload));
  draft_->set_streamer_info(record.record);
  draft_infos_ = streamer_info_record(std::move(payload), keylen);
  return {};
}

bool RootFileWriter::is_changed() const {
  return std::ranges::any_of(state_.directories, [](const DirectoryState& one) { return one.changed; });
}

Result<CommitPlan> RootFileWriter::finish_draft() {
  TRY_VOID(draft_->place_directories());
  for (TableRecord& record : draft_tables_) TRY_VOID(write_table(record));
  TRY_VOID(write_infos());
  return draft_->finish(source());
}

void RootFileWriter::drop_draft() {
  if (draft_) draft_->abandon();
  draft_.reset();
  draft_tables_.clear();
}

// A file whose root directory is empty is never modified. A new file under its name replaces it.
void RootFileWriter::start_anew() {
  ContainerState fresh = new_container(state_.header.name, state_.header.compress, state_.header.uuid);
  fresh.directories.front().record.created = state_.directories.front().record.created;
  fresh.head = std::move(state_.head);
  state_ = std::move(fresh);
  space_ = Space(records_begin(state_));
  infos_ = streamer_info_record({}, 0);
  for (const auto& table : tables_) table->removed = true;
}

Result<CommitPlan> RootFileWriter::plan(std::uint32_t now) {
  drop_draft();
  if (is_empty() && !state_.makes_new_file) start_anew();
  auto records = start_draft(now);
  if (records) draft_tables_ = *std::move(records);
  if (records && draft_tables_.empty() && !is_changed() && !state_.makes_new_file && !space_.has_resting()) {
    drop_draft();
    return CommitPlan{{}, static_cast<std::uint64_t>(state_.header.end), state_.head, state_.head, false};
  }
  for (const TableRecord& record : draft_tables_) draft_->directory(record.table->directory).changed = true;
  auto plan = records ? finish_draft() : tl::unexpected<Error>(std::move(records).error());
  if (!plan) drop_draft();
  return plan;
}

void RootFileWriter::committed(const CommitPlan& plan) {
  if (!draft_) return;
  for (const TableRecord& record : draft_tables_) {
    TableOfFile& table = *record.table;
    table.written = {record.draft.state, table.directory};
    table.recorded->placed();
    table.keeps_old_cycle = false;
    table.datime = 0;
    table.cycle = newest_key(draft_->state().directories[table.directory], table.name)->cycle;
  }
  ContainerState after = draft_->take_state();
  draft_.reset();
  draft_tables_.clear();
  added_classes_.clear();
  state_ = std::move(after);
  state_.makes_new_file = false;
  infos_ = std::move(draft_infos_);
  space_.committed(plan.size);
  if (is_empty()) start_anew();
}

}  // namespace

Result<std::unique_ptr<FileWriter>> FileWriter::create(std::string name, const Compression& compression) {
  ContainerState state = new_container(name, compression.settings(), random_uuid());
  Space space(records_begin(state));
  return std::make_unique<RootFileWriter>(std::move(state), std::move(space), streamer_info_record({}, 0), compression,
                                          nullptr);
}

Result<std::unique_ptr<FileWriter>> FileWriter::open(std::shared_ptr<const File> file, const Compression& compression) {
  if (file->recovered())
    return fail(ErrorKind::unsupported, "cannot be written to: it was not closed, or is truncated, and was recovered");
  const Source& source = file->source();
  TRY(OpenedContainer opened, read_container(source, file->header()));
  TRY(StreamerInfoRecord infos, read_streamer_info_record(source, file->header()));
  return std::make_unique<RootFileWriter>(std::move(opened.state), std::move(opened.space), std::move(infos),
                                          compression, std::move(file));
}

std::size_t state_size(std::span<const std::byte> first) {
  const auto header = read_header(first);
  if (!header || header->begin < 0) return first.size();
  const auto begin = static_cast<std::uint64_t>(header->begin);
  if (begin + sizeof(std::int32_t) > first.size()) return first.size();
  const std::int64_t record = load_big<std::int32_t>(first.data() + begin);  // with its key and names
  const std::int64_t end = std::min<std::int64_t>(record, header->nbytes_name + std::int64_t{kDirectoryRecordSize});
  const std::uint64_t root_end = begin + static_cast<std::uint64_t>(std::max<std::int64_t>(end, 0));
  return root_end <= first.size() ? root_end : begin;
}

HeadState head_state(std::span<const std::byte> head, std::span<const std::byte> before,
                     std::span<const std::byte> after) {
  if (std::ranges::equal(head, after)) return HeadState::after;
  if (std::ranges::equal(head, before)) return HeadState::before;
  if (head.size() != before.size() || head.size() != after.size()) return HeadState::other;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] != before[i] && head[i] != after[i]) return HeadState::other;
  }
  return HeadState::torn;
}

}  // namespace tfile
