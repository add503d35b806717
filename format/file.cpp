// SPDX-License-Identifier: Apache-2.0
#include "tfile/file.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>

#include "class_object.h"
#include "container/directory.h"
#include "container/edge_source.h"
#include "container/header.h"
#include "container/key.h"
#include "container/payload.h"
#include "container/payload_blocks.h"
#include "container/record_walk.h"
#include "container/recover.h"
#include "large_arrays.h"
#include "model/heap.h"
#include "ntuple/description.h"
#include "ntuple/ntuple_table.h"
#include "object/object_plots.h"
#include "record_names.h"
#include "remote_descriptions.h"
#include "streamer/info/streamer_info.h"
#include "streamer/layout/class_headers.h"
#include "streamer/walk/json_pieces.h"
#include "tfile/mutex.h"
#include "tree/read/tree_table.h"

namespace tfile {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool is_tree(std::string_view class_name) { return is_one_of(class_name, {"TTree", "TNtuple", "TNtupleD"}); }

// The StreamerInfo of a file, and warnings about damage in it.
struct ClassInfos {
  StreamerInfos infos;
  std::vector<std::string> warnings;
};

// Shares ownership of the ClassInfos that contain the infos.
std::shared_ptr<const StreamerInfos> infos_in(const std::shared_ptr<const ClassInfos>& classes) {
  return {classes, &classes->infos};
}

std::size_t memory_of(const DirectoryListing& listing) {
  std::size_t bytes = sizeof listing + heap_of_elements(listing.keys) + heap_of(listing.warnings);
  for (const Buffer& buffer : listing.arena) bytes += buffer.size() + kBlockOverhead;
  return bytes;
}

// The root directory's own key and record.
struct RootDirectory {
  std::string name, title;
  DirectoryRecord record;
};

Result<RootDirectory> read_root_directory(const Source& source, const FileHeader& header) {
  // ROOT's bounds for fNbytesName.
  if (header.nbytes_name < 10 || header.nbytes_name > 10000)
    return fail(ErrorKind::damaged,
                "header: fNbytesName is " + std::to_string(header.nbytes_name) + ", expected 10 to 10000",
                header.begin);
  const auto begin = static_cast<std::uint64_t>(header.begin);
  const std::uint64_t wanted = static_cast<std::uint64_t>(header.nbytes_name) + kDirectoryRecordSizeMax;
  Buffer bytes(std::min(wanted, source.size() - begin));
  TRY_VOID(read_range(source, {begin, bytes.size()}, bytes.span()));
  Cursor in(bytes.span(), header.begin);
  const KeyHeader key = read_key(in);
  RootDirectory root{std::string(key.name), std::string(key.title), {}};
  in.seek(static_cast<std::uint64_t>(header.nbytes_name), "root directory");
  root.record = read_directory_record(in);
  return in.finish(std::move(root));
}

// No fBEGIN smaller than 64 was ever written; this is the size of a header up to its UUID.
constexpr std::int64_t kBeginMin = 45;

Result<FileHeader> read_checked_header(const Source& source) {
  std::array<std::byte, kHeaderSizeMax> bytes;
  const std::span<std::byte> start(bytes.data(), std::min<std::uint64_t>(bytes.size(), source.size()));
  TRY_VOID(read_range(source, {0, start.size()}, start));
  TRY(FileHeader header, read_header(start));
  if (header.begin < kBeginMin || static_cast<std::uint64_t>(header.begin) >= source.size()) {
    return fail(ErrorKind::damaged,
                "header: fBEGIN is " + std::to_string(header.begin) + ", the file has " +
                    std::to_string(source.size()) + " bytes",
                8);
  }
  return header;
}

class RootFile final : public File {
 public:
  explicit RootFile(std::shared_ptr<const Source> source) : source_(std::move(source)) {}
  Result<> read();

  const Source& source() const override { return *source_; }
  std::shared_ptr<const Source> shared_source() const override { return source_; }
  const FileHeader& header() const override { return header_; }
  bool recovered() const override { return recovered_; }
  const std::vector<std::string>& warnings() const override { return warnings_; }
  std::shared_ptr<const DirectoryListing> root() const override { return root_; }
  Result<std::shared_ptr<const DirectoryListing>> directory(const KeyInfo& key) const override;
  Result<std::shared_ptr<const Table>> table(const KeyInfo& key) const override;
  Result<std::shared_ptr<const Table>> unresolved_table(const KeyInfo& key) const override;
  Result<std::shared_ptr<const DirectoryListing>> attribute_sets(const KeyInfo& key) const override;
  Result<EntryIndex> entry_index(const KeyInfo& key) const override;
  Result<std::shared_ptr<const StreamSet>> payload(const KeyInfo& key) const override;
  Result<std::shared_ptr<const Object>> object(const KeyInfo& key, std::span<const std::byte> payload) const override;
  Result<std::shared_ptr<const Object>> large_object(const KeyInfo& key) const override;
  Result<std::shared_ptr<const StreamSet>> large_payload(const KeyInfo& key) const override;
  bool may_be_drawn(std::string_view class_name) const override;
  Result<std::vector<Record>> record_map() const override;
  std::size_t memory() const override;
  Result<std::shared_ptr<const FileClasses>> classes() const override;

 private:
  Result<DirectoryListing> read_root_keys(const DirectoryRecord& record);
  Result<DirectoryListing> recover_root(const DirectoryRecord& record, const std::string& why, bool must_find);
  KeyKind kind_of(std::string_view class_name) const;
  bool derives_from_tree(std::string_view class_name) const;
  Result<std::shared_ptr<const ClassInfos>> class_infos() const;
  std::shared_ptr<const DirectoryListing> finished(DirectoryListing listing, std::uint64_t seek) const;

  // Constant once read() has returned.
  const std::shared_ptr<const Source> source_;
  std::shared_ptr<const EdgeSource> edges_;  // buffered ends of the source, for all reads but those of columns
  std::unique_ptr<RemoteDescriptions> remote_;
  FileHeader header_;
  std::int64_t seek_keys_ = 0;
  ByteRange streamer_info_;
  bool recovered_ = false;
  std::vector<std::string> warnings_;
  std::map<std::int64_t, std::shared_ptr<const DirectoryListing>> recovered_directories_;
  std::shared_ptr<const DirectoryListing> root_;

  mutable Mutex class_infos_mutex_{"RootFile::class_infos_mutex_", "a read"};
  mutable std::shared_ptr<const ClassInfos> class_infos_ GUARDED_BY(class_infos_mutex_);
};

Result<> RootFile::read() {
  TRY(edges_, EdgeSource::over(source_));
  remote_ = std::make_unique<RemoteDescriptions>(edges_);
  TRY(header_, read_checked_header(*edges_));
  TRY(RootDirectory root, read_root_directory(*edges_, header_));
  header_.name = std::move(root.name);
  header_.title = std::move(root.title);
  seek_keys_ = root.record.seek_keys;
  if (header_.seek_info > 0 && header_.nbytes_info > 0) {
    streamer_info_ = {static_cast<std::uint64_t>(header_.seek_info), static_cast<std::uint64_t>(header_.nbytes_info)};
  }
  TRY(DirectoryListing keys, read_root_keys(root.record));
  root_ = finished(std::move(keys), static_cast<std::uint64_t>(header_.begin));
  warnings_.insert(warnings_.end(), root_->warnings.begin(), root_->warnings.end());
  return {};
}

// Experiments with thousands of classes have a few megabytes. A damaged record may claim a thousand times its stored
// size.
constexpr std::uint64_t kStreamerInfoSizeMax = 32 << 20;

// The cases of TFile::Init.
Result<DirectoryListing> RootFile::read_root_keys(const DirectoryRecord& record) {
  const std::uint64_t size = source_->size();
  if (static_cast<std::uint64_t>(header_.end) > size) {
    return recover_root(
        record, "truncated: it has " + std::to_string(size) + " of " + std::to_string(header_.end) + " bytes", true);
  }
  if (needs_recovery(header_, record, size)) return recover_root(record, "not closed: it has no list of keys", false);
  TRY_VOID(remote_->hold_keys(record, streamer_info_));
  auto keys = read_key_list(*edges_, record);
  if (!keys && keys.error().kind != ErrorKind::damaged) return keys;
  if (!keys) return recover_root(record, keys.error().text, true);
  if (keys->keys.empty() && record.seek_keys != 0) return recover_root(record, "its list of keys is empty", false);
  return keys;
}

// `must_find`: fails if there is not a single key, since there would be nothing to show.
Result<DirectoryListing> RootFile::recover_root(const DirectoryRecord& record, const std::string& why, bool must_find) {
  TRY(Recovered found, recover_keys(*edges_, header_));
  DirectoryListing root;
  if (auto keys = found.directories.extract(header_.begin)) root = std::move(keys.mapped());
  root.created = record.created;
  root.modified = record.modified;
  if (root.keys.empty()) {
    // A file with baskets whose tree was never written: the job that wrote it died. It is not an empty file.
    const bool never_closed = header_.seek_free == 0 && static_cast<std::uint64_t>(header_.end) < source_->size();
    if (must_find || never_closed || !found.followed) {
      return fail(ErrorKind::damaged, "the file is damaged (" + why + ") and no key could be recovered",
                  static_cast<std::int64_t>(found.end));
    }
    return root;
  }
  recovered_ = true;
  if (found.streamer_info.size != 0) streamer_info_ = found.streamer_info;
  warnings_.push_back("the file is damaged (" + why + "); recovered " + std::to_string(root.keys.size()) +
                      " keys from its records up to byte " + std::to_string(found.end));
  for (auto& [address, listing] : found.directories) {
    recovered_directories_[address] = finished(std::move(listing), static_cast<std::uint64_t>(address));
  }
  return root;
}

// The record is read when a table or object first needs it, so that a listing is cheap even for a file with thousands
// of classes. Damage of the record is only a warning, since ROOT's own classes are known without it. A failing storage
// is an error, and the record is read again the next time.
Result<std::shared_ptr<const ClassInfos>> RootFile::class_infos() const {
  const Lock lock(class_infos_mutex_);
  if (class_infos_) return class_infos_;
  if (root_) TRY_VOID(remote_->hold_tables(root_->keys, streamer_info_));
  auto read = std::make_shared<ClassInfos>();
  RecordContent record;
  if (streamer_info_.size == 0) {
    read->warnings.push_back("the file has no StreamerInfo: only ROOT's own classes are known");
  } else if (auto content = read_record(*edges_, streamer_info_, kStreamerInfoSizeMax)) {
    record = *std::move(content);
  } else if (content.error().kind == ErrorKind::damaged || content.error().kind == ErrorKind::unsupported) {
    read->warnings.push_back("StreamerInfo: " + content.error().text);
  } else {
    return tl::unexpected<Error>(std::move(content).error());
  }
  read->infos = StreamerInfos::read(record.payload.span(), record.keylen, read->warnings);
  class_infos_ = std::move(read);
  return class_infos_;
}

std::size_t RootFile::memory() const {
  std::size_t bytes = sizeof *this + edges_->memory() + heap_of(warnings_) + memory_of(*root_);
  for (const auto& [seek, listing] : recovered_directories_) bytes += memory_of(*listing);
  const Lock lock(class_infos_mutex_);
  if (class_infos_) bytes += class_infos_->infos.memory();
  return bytes;
}

KeyKind RootFile::kind_of(std::string_view class_name) const {
  if (is_directory_class(class_name)) return KeyKind::directory;
  if (is_tree(class_name) || is_ntuple(class_name)) return KeyKind::table;
  return derives_from_tree(class_name) ? KeyKind::table : KeyKind::object;
}

// Only asks about classes named like a tree, so that a listing need not read the StreamerInfo. TChain derives from
// TTree, too, but has no baskets.
bool RootFile::derives_from_tree(std::string_view class_name) const {
  if (class_name == "TChain") return false;
  if (class_name.find("Tree") == std::string_view::npos && class_name.find("uple") == std::string_view::npos)
    return false;
  const auto classes = class_infos();
  if (!classes) return false;
  const StreamerInfo* info = (*classes)->infos.newest(class_name);
  for (int depth = 0; info != nullptr && depth < 20; ++depth) {  // no class has as many bases
    const auto& elements = info->elements;
    const auto base = std::find_if(elements.begin(), elements.end(),
                                   [](const StreamerElement& e) { return e.kind == ElementKind::base; });
    if (base == elements.end() || base->name == "TChain") return false;
    if (is_tree(base->name)) return true;
    info = (*classes)->infos.newest(base->name);
  }
  return false;
}

std::shared_ptr<const DirectoryListing> RootFile::finished(DirectoryListing listing, std::uint64_t seek) const {
  listing.seek = seek;
  for (KeyInfo& key : listing.keys) {
    key.kind = kind_of(key.class_name);
    key.format = is_ntuple(key.class_name) ? TableFormat::rntuple : TableFormat::tree;
    key.can_change = !is_trial_ntuple(key.class_name) && !key.is_bare;
  }
  return std::make_shared<const DirectoryListing>(std::move(listing));
}

Result<std::shared_ptr<const DirectoryListing>> RootFile::directory(const KeyInfo& key) const {
  if (key.kind != KeyKind::directory) return fail(ErrorKind::invalid, "the key is not a directory");
  if (key.keylen < kKeySizeMin || key.seek > source_->size()) {
    return fail(ErrorKind::damaged,
                "directory: its key of " + std::to_string(key.keylen) + " bytes points to byte " +
                    std::to_string(key.seek) + " of a file of " + std::to_string(source_->size()),
                static_cast<std::int64_t>(key.seek));
  }
  const auto found = recovered_directories_.find(static_cast<std::int64_t>(key.seek));
  const bool has_recovered = found != recovered_directories_.end();
  auto record = read_directory_record(*edges_, key.seek + key.keylen);
  if (!record)
    return has_recovered ? found->second
                         : Result<std::shared_ptr<const DirectoryListing>>(tl::unexpected(record.error()));
  auto listing = read_key_list(*edges_, *record);
  if (has_recovered && (!listing || listing->keys.empty())) return found->second;
  if (!listing) return tl::unexpected<Error>(std::move(listing).error());
  return finished(*std::move(listing), key.seek);
}

Result<std::shared_ptr<const Table>> RootFile::table(const KeyInfo& key) const {
  TRY(auto table, unresolved_table(key));
  return table->is_resolved() ? std::move(table) : table->resolve_all();
}

Result<std::shared_ptr<const Table>> RootFile::unresolved_table(const KeyInfo& key) const {
  if (key.kind != KeyKind::table) return fail(ErrorKind::invalid, "the key is not a table");
  if (is_ntuple(key.class_name)) {
    TRY_VOID(remote_->hold_ntuples(key, root_->keys));
    TRY(const Buffer anchor, read_payload(*edges_, key));
    return open_ntuple(source_, edges_, key, anchor.span());
  }
  TRY(const auto classes, class_infos());
  TRY(const Buffer payload, read_payload(*edges_, key));
  return open_tree(source_, payload.span(), key.keylen, std::string(key.class_name), infos_in(classes),
                   classes->warnings);
}

Result<std::shared_ptr<const DirectoryListing>> RootFile::attribute_sets(const KeyInfo& key) const {
  if (!is_ntuple(key.class_name)) return File::attribute_sets(key);
  TRY(const Buffer anchor, read_payload(*edges_, key));
  TRY(auto listing, list_attribute_sets(edges_, key, anchor.span()));
  return finished(std::move(listing), key.seek);
}

Result<EntryIndex> RootFile::entry_index(const KeyInfo& key) const {
  if (key.kind != KeyKind::table || is_ntuple(key.class_name)) return File::entry_index(key);
  TRY(const auto classes, class_infos());
  TRY(const Buffer payload, read_payload(*edges_, key));
  return read_entry_index(payload.span(), key.keylen, std::string(key.class_name), classes->infos);
}

Result<std::shared_ptr<const StreamSet>> RootFile::payload(const KeyInfo& key) const {
  return payload_streams(source_, key);
}

Result<std::shared_ptr<const FileClasses>> RootFile::classes() const {
  TRY(const auto classes, class_infos());
  auto all = std::make_shared<FileClasses>();
  all->descriptions = class_descriptions(classes->infos);
  all->headers = class_headers(classes->infos);
  all->warnings = classes->warnings;
  return std::shared_ptr<const FileClasses>(std::move(all));
}

bool RootFile::may_be_drawn(std::string_view class_name) const {
  const auto classes = class_infos();
  return classes && is_drawable_class((*classes)->infos, class_name);
}

Result<std::shared_ptr<const Object>> RootFile::object(const KeyInfo& key, std::span<const std::byte> bytes) const {
  if (key.kind != KeyKind::object) return fail(ErrorKind::invalid, "the key is not an object");
  TRY(const auto classes, class_infos());
  TRY(auto streams, payload(key));
  return open_object(infos_in(classes), key, std::move(streams), bytes);
}

Result<std::shared_ptr<const Object>> RootFile::large_object(const KeyInfo& key) const {
  using ObjectPtr = std::shared_ptr<const Object>;
  if (key.kind != KeyKind::object || !is_large(key)) return ObjectPtr();
  TRY(const auto classes, class_infos());
  auto infos = infos_in(classes);
  TRY(auto blocks, PayloadBlocks::open(source_, key));
  TRY(auto sparse, SparsePayload::open(std::move(blocks), kKeptOfLarge));
  const auto kept = let_go_of_contents(*infos, key.class_name, *sparse, key.keylen);
  if (sparse->failure()) return tl::unexpected<Error>(*sparse->failure());
  // If a walk cannot read it, the object that is in memory tells it.
  if (!kept || !*kept || !has_short_outline(*infos, key.class_name, sparse->span(), key.keylen)) return ObjectPtr();
  TRY(auto streams, payload(key));
  return open_large_object(std::move(infos), key, std::move(streams), std::move(sparse), **kept);
}

Result<std::shared_ptr<const StreamSet>> RootFile::large_payload(const KeyInfo& key) const {
  if (!is_large(key)) return payload(key);
  TRY(auto blocks, PayloadBlocks::open(source_, key));
  return std::shared_ptr<const StreamSet>(std::move(blocks));
}

Result<std::vector<Record>> RootFile::record_map() const {
  TRY(auto records, read_record_map(*source_, header_, seek_keys_));
  TRY_VOID(name_blobs(*this, records));
  return records;
}

}  // namespace

Result<std::shared_ptr<const File>> File::open(std::shared_ptr<const Source> source) {
  auto file = std::make_shared<RootFile>(std::move(source));
  TRY_VOID(file->read());
  return std::shared_ptr<const File>(std::move(file));
}

// (year - 1995) << 26 | month << 22 | day << 17 | hour << 12 | minute << 6 | second.
std::int64_t unix_time(std::uint32_t datime) {
  if (datime == 0) return 0;
  using namespace std::chrono;
  // A month or day of 0, or month 13 to 15, is no date; the nearest date keeps times in order.
  const unsigned month_number = std::clamp((datime >> 22) & 15u, 1u, 12u);
  const unsigned day_number = std::max((datime >> 17) & 31u, 1u);
  const sys_days date = year(1995 + static_cast<int>(datime >> 26)) / month(month_number) / day(1);
  const sys_seconds time =
      date + days(day_number - 1) + hours((datime >> 12) & 31u) + minutes((datime >> 6) & 63u) + seconds(datime & 63u);
  return time.time_since_epoch().count();
}

std::uint32_t datime_of(std::int64_t unix_time) {
  using namespace std::chrono;
  const sys_seconds first = sys_days(year(1995) / January / 1), last = sys_days(year(2059) / January / 1) - seconds(1);
  const sys_seconds time = std::clamp(sys_seconds(seconds(unix_time)), first, last);
  const sys_days date = floor<days>(time);
  const year_month_day day(date);
  const hh_mm_ss clock(time - date);
  return static_cast<std::uint32_t>(static_cast<int>(day.year()) - 1995) << 26 |
         static_cast<unsigned>(day.month()) << 22 | static_cast<unsigned>(day.day()) << 17 |
         static_cast<std::uint32_t>(clock.hours().count()) << 12 |
         static_cast<std::uint32_t>(clock.minutes().count()) << 6 | static_cast<std::uint32_t>(clock.seconds().count());
}

}  // namespace tfile
