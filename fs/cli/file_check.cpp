// SPDX-License-Identifier: Apache-2.0
#include "cli/file_check.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <new>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "damage.h"
#include "mutex.h"
#include "start_thread.h"
#include "tfile/record_check.h"
#include "tfile/stored_chunk.h"
#include "view/column_lengths.h"
#include "view/table_form.h"

namespace tfilefs {

using tfile::Chunk;
using tfile::ChunkKey;
using tfile::Error;
using tfile::ErrorKind;
using tfile::KeyInfo;
using tfile::Result;

namespace {

// As deep as directories can be in the paths of a mount. Names in the file may be longer than those that a mount shows.
constexpr int kDepthMax = PATH_MAX / 2;
constexpr std::size_t kPathMax = 64 * 1024;

using Bytes = std::vector<std::byte>;
using ChunkPtr = std::shared_ptr<const Chunk>;

// The column that one slot of a stream feeds.
struct FedColumn {
  std::size_t item_size = 0;  // 0: no column
  bool is_offsets = false;
};

// Decodes the chunks of one stream in order, as the cache does, and compares them with the metadata.
class StreamCheck {
 public:
  StreamCheck(const tfile::Table& table, tfile::StreamId stream, std::vector<FedColumn> slots);

  // By slot: the items of all chunks so far; of offsets also the last value.
  const std::vector<std::int64_t>& items() const { return first_; }
  const std::vector<std::int64_t>& last_offsets() const { return last_; }
  std::uint64_t unpacked() const { return unpacked_; }  // the sizes of all chunks so far, by their headers

  // Sets `lies_at` to the place of the chunk. After an error the next chunk can still be checked.
  Result<> check(std::uint32_t index, tfile::Locator& lies_at);

 private:
  // `counted`: the items of each slot, if they can be counted.
  Result<> check_chunk(ChunkKey key, tfile::Locator& lies_at, std::vector<std::int64_t>& counted);
  Result<std::vector<std::int64_t>> items_of(ChunkKey key, std::span<const std::byte> stored,
                                             std::span<const ChunkPtr> inputs);

  // The number of items by the metadata.
  Result<std::vector<std::int64_t>> told_items(std::uint32_t index);
  Result<> check_array(std::uint32_t chunk, std::size_t slot, std::span<const std::byte> array, std::int64_t items);

  const tfile::Table& table_;
  const tfile::StreamId stream_;
  const tfile::ItemsFrom items_from_;
  const std::vector<FedColumn> slots_;
  std::optional<tfile::Extents> told_;  // if metadata has the number of items
  std::vector<std::int64_t> first_, last_;
  std::uint64_t unpacked_ = 0;
  Bytes stored_;
};

StreamCheck::StreamCheck(const tfile::Table& table, tfile::StreamId stream, std::vector<FedColumn> slots)
    : table_(table),
      stream_(stream),
      items_from_(table.shape(stream).items_from),
      slots_(std::move(slots)),
      first_(slots_.size(), 0),
      last_(slots_.size(), 0) {}

Result<> StreamCheck::check(std::uint32_t index, tfile::Locator& lies_at) {
  std::vector<std::int64_t> items;
  auto checked = check_chunk({stream_, index}, lies_at, items);
  // If the items of a chunk cannot be counted, the next one is only known not to be the first: it does not begin with
  // the leading 0 of offsets.
  items.resize(slots_.size(), 0);
  for (std::size_t slot = 0; slot < slots_.size(); ++slot)
    first_[slot] = std::max<std::int64_t>(first_[slot] + items[slot], slots_[slot].is_offsets ? 1 : 0);
  return checked;
}

Result<> StreamCheck::check_chunk(ChunkKey key, tfile::Locator& lies_at, std::vector<std::int64_t>& counted) {
  TRY(const tfile::Locator at, table_.locate(key));
  lies_at = at;
  TRY(const auto stored, tfile::read_stored(at, stored_));
  unpacked_ += table_.unpacked_size(key, stored);
  std::vector<ChunkPtr> inputs;
  for (const ChunkKey& input : table_.inputs(key)) {
    TRY(ChunkPtr chunk, tfile::read_input(table_, input));
    inputs.push_back(std::move(chunk));
  }
  TRY(const auto items, items_of(key, stored, inputs));
  counted = items;
  TRY(const Chunk chunk, table_.decode(key, stored, inputs, first_));
  if (items.size() != slots_.size() || chunk.arrays.size() != slots_.size())
    return tfile::fail(ErrorKind::damaged, "has " + std::to_string(chunk.arrays.size()) + " columns, counts " +
                                               std::to_string(items.size()) + ", its branch has " +
                                               std::to_string(slots_.size()));
  for (std::size_t slot = 0; slot < slots_.size(); ++slot)
    TRY_VOID(check_array(key.index, slot, chunk.arrays[slot], items[slot]));
  return {};
}

Result<std::vector<std::int64_t>> StreamCheck::items_of(ChunkKey key, std::span<const std::byte> stored,
                                                        std::span<const ChunkPtr> inputs) {
  if (items_from_ == tfile::ItemsFrom::metadata) return told_items(key.index);
  const tfile::ItemCounter& counter = *table_.counter();
  Bytes bytes;
  if (items_from_ == tfile::ItemsFrom::headers) {
    TRY(const tfile::Locator at, counter.header_locator(key));
    TRY(stored, tfile::read_stored(at, bytes));
  }
  TRY(auto counted, counter.count(key, stored, inputs));
  return std::move(counted.items);
}

Result<std::vector<std::int64_t>> StreamCheck::told_items(std::uint32_t index) {
  if (slots_.empty()) return std::vector<std::int64_t>();  // of a class without members: extents have no chunks
  if (!told_) {
    TRY(told_, table_.extents(stream_));
  }
  if (index >= told_->chunks())
    return tl::unexpected<Error>(told_->damage.value_or(
        Error{ErrorKind::damaged,
              "no chunk " + std::to_string(index) + ": the stream has " + std::to_string(told_->chunks()), -1, 0}));
  return told_->items_of(index);
}

Result<> StreamCheck::check_array(std::uint32_t chunk, std::size_t slot, std::span<const std::byte> array,
                                  std::int64_t items) {
  if (slots_[slot].item_size == 0) return {};
  if (items < 0 || array.size() != static_cast<std::uint64_t>(items) * slots_[slot].item_size)
    return wrong_size(chunk, slot, array.size(),
                      std::to_string(items) + " items of " + std::to_string(slots_[slot].item_size));
  if (!slots_[slot].is_offsets || array.empty()) return {};
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(items));
  std::memcpy(offsets.data(), array.data(), array.size());
  if (offsets.front() < 0 || !std::is_sorted(offsets.begin(), offsets.end()))
    return unsound_offsets(offsets, {0, std::max<std::int64_t>(0, offsets.back())});
  last_[slot] = offsets.back();
  return {};
}

// Counts of a whole stream, by slot; empty if some of it is damaged.
struct StreamTotals {
  std::vector<std::int64_t> items, last_offsets;
};

class Checker {
 public:
  Checker(const tfile::File& file, unsigned threads, const std::function<void(std::uint64_t)>& progress)
      : file_(file), threads_(std::max(1u, threads)), progress_(progress) {}

  FileCheck run();

 private:
  void found(const std::string& place, Error error) { note(place, std::move(error), FindingClass::error); }
  void note(const std::string& place, Error error, FindingClass kind) EXCLUDES(mutex_);
  void warn(const std::string& place, const std::vector<std::string>& warnings);

  // Without a StreamerInfo ROOT's own classes are known.
  void check_classes();
  void check_directory(const tfile::DirectoryListing& directory, const std::string& path, int depth);
  void check_key(const KeyInfo& key, const std::string& path, int depth);
  Result<> check_payload(const KeyInfo& key);

  // A set may claim to contain itself.
  void check_attribute_sets(const tfile::DirectoryListing& sets, const std::string& path, int depth);
  void check_table(const tfile::Table& table, const std::string& path);

  // Columns that have no values, with the reason. If the reason is a damaged chunk, or a file that is missing, that is
  // reported for the chunk.
  void check_reasons(const tfile::Table& table, const std::vector<StreamTotals>& totals, const std::string& path);

  // Each column must have as many items as its lists, which may belong to another branch.
  void check_lists(const tfile::Table& table, const std::vector<StreamTotals>& totals, const std::string& path);
  StreamTotals check_stream(const tfile::Table& table, tfile::StreamId stream, std::vector<FedColumn> slots,
                            const std::string& branch);

  // The records that neither a key nor a table needs: lists of keys, which were read, leftovers of old cycles and lost
  // trees. Damage there loses nothing.
  void check_records();

  // A program that writes to the file uses what the list of free segments has. Other gaps may be any bytes that look
  // like a length.
  void check_free_space(const tfile::RecordCheck& check, const std::set<std::uint64_t>& needed);

  const tfile::File& file_;
  const unsigned threads_;
  const std::function<void(std::uint64_t)>& progress_;
  std::set<std::uint64_t> directories_;     // by address
  std::set<std::uint64_t> attribute_sets_;  // by address
  std::set<std::uint64_t> key_addresses_;   // and that of the StreamerInfo
  std::vector<std::string> classes_warnings_;

  Mutex mutex_{"Checker::mutex_"};
  FileCheck result_ GUARDED_BY(mutex_);
  std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;  // of chunks
  std::set<std::uint64_t> chunk_addresses_ GUARDED_BY(mutex_);
};

FileCheck Checker::run() {
  // The rest of them is about the root directory's list of keys. Not all programs recover keys.
  if (file_.recovered()) note("", {ErrorKind::damaged, file_.warnings().front(), -1, 0}, FindingClass::warning);
  check_classes();
  check_directory(*file_.root(), "", 0);
  check_records();
  Lock lock(mutex_);
  std::ranges::stable_sort(result_.findings, {}, [](const Finding& each) { return each.error.offset; });
  return std::move(result_);
}

void Checker::note(const std::string& place, Error error, FindingClass kind) {
  Lock lock(mutex_);
  result_.findings.push_back({place, std::move(error), kind});
}

void Checker::warn(const std::string& place, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) found(place, {ErrorKind::damaged, warning, -1, 0});
}

void Checker::check_classes() {
  const auto classes = file_.classes();
  if (!classes) return found("StreamerInfo", classes.error());
  classes_warnings_ = (*classes)->warnings;
  const bool has_none = file_.header().seek_info <= 0 || file_.header().nbytes_info <= 0;
  for (const std::string& warning : classes_warnings_)
    note("StreamerInfo", {ErrorKind::damaged, warning, has_none ? -1 : file_.header().seek_info, 0},
         has_none ? FindingClass::note : FindingClass::error);
  if (!has_none) key_addresses_.insert(static_cast<std::uint64_t>(file_.header().seek_info));
}

void Checker::check_directory(const tfile::DirectoryListing& directory, const std::string& path, int depth) {
  warn(path, directory.warnings);
  const auto address = static_cast<std::int64_t>(directory.seek);
  if (!directories_.insert(directory.seek).second)
    return found(path,
                 {ErrorKind::damaged, "directory at byte " + std::to_string(address) + " contains itself", address, 0});
  if (depth > kDepthMax || path.size() > kPathMax)
    return found(path, {ErrorKind::unsupported, "nested too deeply for a path", address, 0});
  for (const KeyInfo& key : directory.keys) {
    const std::string at = (path.empty() ? "" : path + "/") + std::string(key.name) + ";" + std::to_string(key.cycle);
    check_key(key, at, depth);
  }
}

void Checker::check_key(const KeyInfo& key, const std::string& path, int depth) {
  const auto failed = [&](Error error) {
    if (error.offset < 0) error.offset = static_cast<std::int64_t>(key.seek);
    found(path, std::move(error));
  };
  key_addresses_.insert(key.seek);
  {
    Lock lock(mutex_);
    ++result_.keys;
  }
  if (key.kind == tfile::KeyKind::directory) {
    if (const auto reply = tfile::check_key_in_record(file_, key); !reply)
      note(path, reply.error(), reply.error().kind == ErrorKind::damaged ? FindingClass::warning : FindingClass::error);
    const auto directory = file_.directory(key);
    return directory ? check_directory(**directory, path, depth + 1) : failed(directory.error());
  }
  if (key.kind == tfile::KeyKind::table) {
    const auto table = file_.table(key);
    if (!table) return failed(table.error());
    check_table(**table, path);
    if ((*table)->attribute_sets == 0) return;
    const auto sets = file_.attribute_sets(key);
    return sets ? check_attribute_sets(**sets, path, depth + 1) : failed(sets.error());
  }
  // For any other key only the payload can be checked.
  if (const auto read = check_payload(key); !read) failed(read.error());
}

// A large one block by block.
Result<> Checker::check_payload(const KeyInfo& key) try {
  TRY(const auto payload, file_.large_payload(key));
  Bytes bytes;
  for (std::uint32_t chunk = 0; chunk < payload->chunk_count(0); ++chunk) {
    TRY(const tfile::Locator at, payload->locate({0, chunk}));
    TRY(const auto stored, tfile::read_stored(at, bytes));
    TRY_VOID(payload->decode({0, chunk}, stored, {}, {}));
  }
  return {};
} catch (const std::bad_alloc&) {
  return tfile::fail(ErrorKind::no_space, "out of memory while decoding");
}

void Checker::check_attribute_sets(const tfile::DirectoryListing& sets, const std::string& path, int depth) {
  for (const KeyInfo& set : sets.keys) {
    const std::string at = path + "/.attributes/" + std::string(set.name);
    if (depth > kDepthMax || at.size() > kPathMax)
      return found(at, {ErrorKind::unsupported, "nested too deeply for a path", -1, 0});
    if (attribute_sets_.insert(set.seek).second) check_key(set, at, depth);
  }
}

void Checker::check_table(const tfile::Table& table, const std::string& path) {
  if (!table.reason.empty()) found(path, {ErrorKind::unsupported, table.reason, -1, 0});
  for (const std::string& warning : table.warnings) {
    const bool is_of_classes = std::ranges::count(classes_warnings_, warning) > 0;
    if (!is_of_classes) found(path, {ErrorKind::damaged, warning, -1, 0});
  }
  std::vector<std::vector<FedColumn>> slots(table.stream_count());
  std::vector<std::string> branches(table.stream_count());
  for (tfile::StreamId stream = 0; stream < slots.size(); ++stream) slots[stream].resize(table.slot_count(stream));
  for (const tfile::Column& column : table.columns) {
    slots[column.stream][column.slot] = {column.item_size(), column.role == tfile::Role::offsets};
    branches[column.stream] = column.branch;
  }
  std::atomic<tfile::StreamId> next = 0;
  std::vector<StreamTotals> totals(slots.size());
  const auto work = [&] {
    for (tfile::StreamId stream = next++; stream < slots.size(); stream = next++)
      totals[stream] = check_stream(table, stream, std::move(slots[stream]), path + "/" + branches[stream]);
  };
  std::vector<std::jthread> others;
  others.reserve(threads_);
  for (std::jthread more; others.size() + 1 < threads_ && start_thread(more, work);) others.push_back(std::move(more));
  work();
  others.clear();
  check_reasons(table, totals, path);
  check_lists(table, totals, path);
  Lock lock(mutex_);
  result_.tables.push_back({path, table.entries, table.columns.size()});
}

void Checker::check_reasons(const tfile::Table& table, const std::vector<StreamTotals>& totals,
                            const std::string& path) {
  for (const tfile::Column& column : table.columns) {
    if (!has_no_values(column) || totals[column.stream].items.empty()) continue;
    found(path + "/" + column.branch,
          {ErrorKind::damaged, "column " + column.path + " has no values: " + column.reason, -1, 0});
  }
}

void Checker::check_lists(const tfile::Table& table, const std::vector<StreamTotals>& totals, const std::string& path) {
  const auto counters = counted_by(table);
  for (tfile::ColumnId id = 0; id < counters.size(); ++id) {
    if (!counters[id]) continue;
    const tfile::Column &column = table.columns[id], &list = table.columns[*counters[id]];
    if (has_no_values(column) || has_no_values(list)) continue;
    const StreamTotals &own = totals[column.stream], &of_list = totals[list.stream];
    if (own.items.empty() || of_list.items.empty()) continue;
    const std::int64_t items = own.items[column.slot] - (column.role == tfile::Role::offsets ? 1 : 0);
    const std::int64_t wanted = of_list.last_offsets[list.slot];
    if (std::max<std::int64_t>(0, items) == wanted) continue;
    const std::string what = "column " + column.path + " has " + std::to_string(items) + " items, and its lists have " +
                             std::to_string(wanted);
    note(path + "/" + column.branch, {ErrorKind::damaged, what, -1, 0}, FindingClass::warning);
  }
}

StreamTotals Checker::check_stream(const tfile::Table& table, tfile::StreamId stream, std::vector<FedColumn> slots,
                                   const std::string& branch) {
  StreamCheck check(table, stream, std::move(slots));
  bool is_whole = true;
  const std::size_t count = table.chunk_count(stream);
  for (std::uint32_t index = 0; index < count; ++index) {
    tfile::Locator lies_at;
    Result<> checked;
    try {
      checked = check.check(index, lies_at);
    } catch (const std::bad_alloc&) {
      checked = tfile::fail(ErrorKind::no_space, "out of memory while decoding");
    }
    Lock lock(mutex_);
    ++result_.chunks;
    bytes_ += lies_at.range.size;
    if (progress_) progress_(bytes_);
    // A sibling file has records of its own at the same addresses.
    const bool in_sibling = lies_at.source && lies_at.source->identity() != file_.source().identity();
    if (lies_at.source && !in_sibling) chunk_addresses_.insert(lies_at.range.begin);
    if (checked) continue;
    is_whole = false;
    Error error = checked.error();
    if (error.offset < 0 && lies_at.source) error.offset = static_cast<std::int64_t>(lies_at.range.begin);
    if (in_sibling && error.source.empty()) error.source = lies_at.source->name();
    const auto entries = table.chunk_entries({stream, index});
    const std::string which = std::to_string(entries.begin) + " to " + std::to_string(entries.end - 1);
    error.text = "entries " + which + ": " + error.text;
    result_.findings.push_back({branch, std::move(error)});
  }
  if (!is_whole) return {};
  if (const std::string wrong = table.contradicted_sums(stream, check.unpacked()); count > 0 && !wrong.empty())
    found(branch, {ErrorKind::damaged, "the totals in the record of the branch are wrong: " + wrong, -1, 0});
  return {check.items(), check.last_offsets()};
}

void Checker::check_records() {
  std::set<std::uint64_t> needed = key_addresses_;
  {
    Lock lock(mutex_);
    needed.merge(chunk_addresses_);
  }
  auto check = tfile::check_records(file_, [&](std::uint64_t address) { return needed.contains(address); });
  if (!check) return found("", check.error());
  for (tfile::RecordError& wrong : check->errors) {
    const bool is_damaged = wrong.error.kind == ErrorKind::damaged;
    const bool is_head = wrong.error.offset == file_.header().begin || wrong.error.offset == file_.header().seek_free;
    note(wrong.class_name.empty() ? "unmarked bytes" : wrong.class_name + " " + wrong.name, std::move(wrong.error),
         !is_damaged ? FindingClass::error
         : is_head   ? FindingClass::warning
                     : FindingClass::note);
  }
  check_free_space(*check, needed);
  Lock lock(mutex_);
  result_.records = check->records;
}

void Checker::check_free_space(const tfile::RecordCheck& check, const std::set<std::uint64_t>& needed) {
  const auto look = [&](const std::vector<tfile::ByteRange>& ranges, FindingClass kind) {
    for (const tfile::ByteRange range : ranges) {
      const auto first = needed.lower_bound(range.begin);
      if (first != needed.end() && *first < range.end())
        note("free space",
             {ErrorKind::damaged,
              "up to byte " + std::to_string(range.end()) + ", is used at byte " + std::to_string(*first),
              static_cast<std::int64_t>(range.begin), 0},
             kind);
    }
  };
  look(check.free, FindingClass::warning);
  std::vector<tfile::ByteRange> unlisted;
  std::ranges::copy_if(check.gaps, std::back_inserter(unlisted), [&](const tfile::ByteRange& gap) {
    return std::ranges::none_of(
        check.free, [&](const tfile::ByteRange& free) { return free.begin <= gap.begin && gap.begin < free.end(); });
  });
  look(unlisted, FindingClass::note);
}

}  // namespace

FileCheck check_file(const tfile::File& file, unsigned threads, const std::function<void(std::uint64_t)>& progress) {
  return Checker(file, threads, progress).run();
}

}  // namespace tfilefs
