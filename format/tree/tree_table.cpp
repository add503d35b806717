// SPDX-License-Identifier: Apache-2.0
#include "tree/tree_table.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "bytes/endian.h"
#include "streamer/chunk_of_arrays.h"
#include "tree/branch_nodes.h"
#include "tree/cluster_boundaries.h"
#include "tree/table_memory.h"
#include "tree/tree_record.h"

namespace tfile {
namespace {

// Fixed fields of a basket's key and header, and room for the longest names that are not absurd: one read gets all.
constexpr std::uint64_t kHeaderRoom = 512;
constexpr std::uint64_t kOffsetSize = 4;

class TreeTable final : public Table, public ItemCounter {
 public:
  TreeTable(std::shared_ptr<const Source> source, TreeRecord tree, const StreamerInfos& infos)
      : source_(std::move(source)), tree_(std::move(tree)) {
    name = tree_.name;
    title = tree_.title;
    kind = "ttree";
    entries = tree_.entries;
    warnings = std::move(tree_.warnings);
    clusters = cluster_boundaries(tree_);
    open_siblings();
    BranchNodes made = make_branch_nodes(tree_, infos,
                                         {[this](const Stream& stream) { return first_entries_follow(stream); },
                                          [this](const Stream& stream) { return first_classes(stream); }});
    nodes = std::move(made.nodes);
    columns = std::move(made.columns);
    streams_ = std::move(made.streams);
    branches_.reserve(tree_.branches.size());
    for (BranchRecord& branch : tree_.branches) branches_.push_back(std::move(static_cast<BranchStorage&>(branch)));
    tree_ = {};
    note_unwritten();
  }

  std::size_t memory() const override {
    return memory_of(*this) + memory_of(std::span(streams_)) + memory_of(std::span(branches_));
  }

  std::size_t stream_count() const override { return streams_.size(); }
  StreamShape shape(StreamId id) const override {
    return {.chunks = std::max<std::size_t>(basket_count(id), 1),
            .slots = streams_[id].lengths.size(),
            .items_from = items_from(streams_[id]),
            .stored_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(branch_of(id).zip_bytes, 0))};
  }

  // What a list's counter says is part of its offsets, wherever the counter is stored.
  std::vector<Sibling> siblings_of(ColumnId id) const override {
    if (siblings.empty()) return {};
    std::set<StreamId> from;
    add_origins(columns[id].stream, from);
    std::vector<Sibling> found;
    for (const Sibling& sibling : siblings)
      if (std::any_of(from.begin(), from.end(), [&](StreamId s) { return branch_of(s).file_name == sibling.name; }))
        found.push_back(sibling);
    return found;
  }

  EntryRange chunk_entries(ChunkKey key) const override {
    const auto& baskets = branch_of(key.stream).baskets;
    if (key.index >= basket_count(key.stream)) return {};
    return {(*baskets.entry)[key.index], (*baskets.entry)[key.index + 1]};
  }

  Result<Locator> locate(ChunkKey key) const override {
    Locator locator;
    const BranchStorage& branch = branch_of(key.stream);
    if (key.index >= basket_count(key.stream)) return locator;
    if (const EmbeddedBasket* embedded = embedded_basket(branch, key.index)) {
      locator.embedded = embedded->data;
      return locator;
    }
    locator.range = {branch.baskets.seek[key.index], branch.baskets.nbytes[key.index]};
    if (locator.range.begin == 0 || locator.range.size == 0)
      return fail(ErrorKind::damaged, "branch " + branch.name + ": basket " + std::to_string(key.index) + " was lost");
    TRY(locator.source, source_of(branch));
    return locator;
  }

  Result<Locator> header_locator(ChunkKey key) const override {
    TRY(Locator locator, locate(key));
    const std::size_t names = branch_of(key.stream).name.size() + name.size() + title.size();
    locator.range.size = std::min<std::uint64_t>(locator.range.size, kHeaderRoom + names);
    return locator;
  }

  std::uint64_t decoded_size(ChunkKey key) const override {
    const BranchStorage& branch = branch_of(key.stream);
    const EntryRange range = chunk_entries(key);
    const std::uint64_t stored = key.index < basket_count(key.stream) ? branch.baskets.nbytes[key.index] : 0;
    const double ratio =
        branch.zip_bytes > 0 && branch.tot_bytes > 0
            ? std::clamp(static_cast<double>(branch.tot_bytes) / static_cast<double>(branch.zip_bytes), 1.0, 1000.0)
            : 4.0;
    // Ends take 8 bytes where the file has 4 or fewer.
    const std::uint64_t slots = streams_[key.stream].lengths.size();
    return static_cast<std::uint64_t>(static_cast<double>(stored) * ratio) +
           8 * slots * static_cast<std::uint64_t>(range.size() + 1);
  }

  std::vector<ChunkKey> inputs(ChunkKey key) const override {
    const Stream& stream = streams_[key.stream];
    if (key.index >= basket_count(key.stream)) return {};
    if (stream.counter) return chunks_over(stream.counter->stream, chunk_entries(key));
    if (!stream.item_counter) return {};
    const EntryRange wanted = chunk_entries(key);
    std::vector<ChunkKey> keys = chunks_over(stream.item_counter->stream, wanted);
    // Where the counters begin at an earlier entry, the collection's ends tell how many of them are not ours.
    const std::int64_t begin = keys.empty() ? wanted.begin : chunk_entries(keys[0]).begin;
    if (begin >= wanted.begin) return keys;
    for (const std::int64_t entry : {begin - 1, wanted.begin - 1}) {
      for (const ChunkKey& ends : chunks_over(stream.collection, {entry, entry + 1})) {
        if (entry >= 0) keys.push_back(ends);
      }
    }
    return keys;
  }

  const ItemCounter* counter() const override { return this; }

  Result<Counted> count(ChunkKey key, std::span<const std::byte> bytes,
                        std::span<const std::shared_ptr<const Chunk>> inputs) const override {
    const Stream& stream = streams_[key.stream];
    const bool first_chunk = key.index == 0;
    if (items_from(stream) == ItemsFrom::payloads) {
      TRY(BasketData data, basket_data(key, bytes));
      TRY_VOID(missing_offsets(key, data, inputs));
      return count_by_decoding(stream, std::move(data), first_chunk);
    }
    TRY(const std::uint64_t size, data_size(key, bytes));
    TRY(auto items, items_by_size(stream, size, chunk_entries(key).size(), first_chunk));
    return Counted{std::move(items), {}};
  }
  void place(ChunkKey key, Chunk& chunk, std::span<const std::int64_t> first) const override {
    place_chunk(*streams_[key.stream].program, first, chunk);
  }

  std::vector<std::int64_t> lengths(StreamId id) const override {
    const Stream& stream = streams_[id];
    const std::int64_t n = stream_entries(id);
    if (auto items = lengths_without_header(id)) return *std::move(items);
    std::vector<std::int64_t> known;
    for (auto length : stream.lengths)
      known.push_back(length == Stream::Length::unknown ? -1 : length == Stream::Length::entries ? n : n + 1);
    return known;
  }

  Result<Extents> extents(StreamId id) const override {
    const Stream& stream = streams_[id];
    if (!needs_no_size(stream)) return fail(ErrorKind::invalid, "extents: only a look at the baskets tells");
    ExtentSum sum(stream.lengths.size());
    std::vector<std::int64_t> items(stream.lengths.size());
    for (std::uint32_t i = 0; i < chunk_count(id); ++i) {
      const std::int64_t n = chunk_entries({id, i}).size();
      for (std::size_t slot = 0; slot < items.size(); ++slot)
        items[slot] = n + (i == 0 && stream.lengths[slot] == Stream::Length::entries_and_one ? 1 : 0);
      sum.add(items);
    }
    return sum.take();
  }

  bool header_tells(StreamId id) const override {
    const Stream& stream = streams_[id];
    return !needs_no_size(stream) && size_gives_items(stream) && sizes_add_up(id) && basket_count(id) > 0;
  }

  Result<std::optional<std::vector<std::int64_t>>> lengths_by_header(
      StreamId id, std::span<const std::byte> header0) const override {
    using Lengths = std::optional<std::vector<std::int64_t>>;
    if (!header_tells(id)) return Lengths();
    TRY(const auto size, total_data_size(id, header0));
    if (!size) return Lengths();
    auto items = items_by_size(streams_[id], *size, stream_entries(id), true);
    if (!items) return Lengths();
    note_lists(id, header0, items->back());
    return Lengths(*std::move(items));
  }

  std::vector<StreamId> telling_headers() const override {
    std::vector<StreamId> wanted;
    std::set<BranchIndex> told;
    for (StreamId id = 0; id < streams_.size(); ++id) {
      const auto& lists_of = streams_[id].lists_of;
      if (header_tells(id) && (!lists_of || told.insert(*lists_of).second)) wanted.push_back(id);
    }
    return wanted;
  }

  Result<Chunk> decode(ChunkKey key, std::span<const std::byte> stored,
                       std::span<const std::shared_ptr<const Chunk>> inputs,
                       std::span<const std::int64_t> first) const override {
    TRY(BasketData data, basket_data(key, stored));
    TRY(const auto counts, missing_offsets(key, data, inputs));
    auto chunk = decode_basket(streams_[key.stream], std::move(data), counts, first, &shared_ends_);
    if (!chunk)
      return fail(
          chunk.error().kind,
          "branch " + branch_of(key.stream).name + ", basket " + std::to_string(key.index) + ": " + chunk.error().text,
          static_cast<std::int64_t>(locate(key).value_or(Locator{}).range.begin));
    return chunk;
  }

 private:
  // Whether the first entries of a branch read as its program says. What cannot be read at all is not judged here.
  Result<> first_entries_follow(const Stream& stream) const {
    constexpr std::int64_t kTrialEntries = 64;  // enough to meet one that is not empty, without decoding a whole basket
    const BranchRecord& branch = tree_.branches[stream.branch];
    if (branch.baskets.seek.empty() || stream.item_counter_branch) return {};
    std::vector<std::byte> stored;
    auto data = first_basket(branch, stored);
    if (!data) return {};
    if (data->size == 0 && stream.program->entry_is_items && branch.count &&
        counts_items(tree_.branches[*branch.count], data->entries))
      return fail(ErrorKind::unsupported,
                  "its entries have no bytes, although there are items: nothing was written of it");
    // An item that nothing describes may come late.
    if (stream.program->unknown.empty() && !data->offsets.empty() && data->entries > kTrialEntries) {
      data->entries = kTrialEntries;
      data->offsets.resize(kTrialEntries + 1);
    }
    return entries_follow_program(stream, *data);
  }

  // ROOT makes branches for members that it cannot reach, as those of std::array in a vector, and writes nothing of
  // them.
  void note_unwritten() {
    for (Column& column : columns) {
      if (column.lists.empty() || column.role != Role::values) continue;
      const StreamId lists = columns[column.lists.back()].stream;
      if (lists == column.stream || streams_[column.stream].form != Stream::Form::flat) continue;
      if (holds_nothing(column.stream) && counts_items(branch_of(lists), stream_entries(lists)))
        column.reason = "there are items in its lists, and nothing was written of them";
    }
  }

  // Whether the baskets of a flat stream are there and have no data.
  bool holds_nothing(StreamId id) const {
    const BranchStorage& branch = branch_of(id);
    if (!sizes_add_up(id)) return false;
    const auto on_disk = basket_count(id) - branch.embedded.size();
    const std::uint64_t key_max = kHeaderRoom + branch.name.size() + name.size() + title.size();
    const auto offsets_max = branch.entry_offset_len == 0 ? 0 : kOffsetSize * (stream_entries(id) + 2 * on_disk);
    if (static_cast<std::uint64_t>(branch.tot_bytes) > on_disk * key_max + offsets_max) return false;
    std::vector<std::byte> header;
    if (on_disk > 0) {
      const auto at = header_locator({id, 0});
      if (!at || !at->source) return false;
      header.resize(at->range.size);
      if (!read_range(*at->source, at->range, header)) return false;
    }
    const auto size = total_data_size(id, header);
    return size && *size && **size == 0;
  }

  // Whether a split collection's own branch counts any item in its first entries.
  bool counts_items(const BranchStorage& collection, std::int64_t first_entries) const {
    if (collection.baskets.seek.empty()) return false;
    std::vector<std::byte> stored;
    const auto counts = first_basket(collection, stored);
    if (!counts) return false;
    const auto bytes = counts->bytes();
    const std::size_t size =
        std::min<std::size_t>(bytes.size(), static_cast<std::size_t>(first_entries) * sizeof(std::int32_t));
    return std::any_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size),
                       [](std::byte b) { return b != std::byte{0}; });
  }

  // What the first baskets hold, until enough entries were seen to have met what is usual.
  FoundClasses first_classes(const Stream& stream) const {
    constexpr std::int64_t kEntriesSeen = 256;
    constexpr std::size_t kBasketsMax = 32;  // each costs a read
    const BranchRecord& branch = tree_.branches[stream.branch];
    FoundClasses found;
    std::int64_t entries_seen = 0;
    for (std::uint32_t i = 0; i < std::min(branch.baskets.seek.size(), kBasketsMax) && entries_seen < kEntriesSeen;
         ++i) {
      std::vector<std::byte> stored;
      auto data = trial_basket(branch, i, stored);
      if (!data) break;
      entries_seen += data->entries;
      for (auto& [place, classes] : classes_of_entries(stream, *data)) found[place].merge(classes);
    }
    return found;
  }

  Result<BasketData> first_basket(const BranchStorage& branch, std::vector<std::byte>& stored) const {
    return trial_basket(branch, 0, stored);
  }

  // Reads into `stored`, which must outlive what is returned.
  Result<BasketData> trial_basket(const BranchStorage& branch, std::uint32_t index,
                                  std::vector<std::byte>& stored) const {
    const std::int64_t n = (*branch.baskets.entry)[index + 1] - (*branch.baskets.entry)[index];
    if (const EmbeddedBasket* embedded = embedded_basket(branch, index)) return embedded_data(*embedded, n);
    TRY(const Source* source, source_of(branch));
    // A basket beyond what ROOT ever writes is left to the reader who wants it.
    constexpr std::uint32_t kTrialBytesMax = 64 << 20;
    if (branch.baskets.nbytes[index] > kTrialBytesMax)
      return fail(ErrorKind::unsupported, "basket is too large to try");
    stored.resize(branch.baskets.nbytes[index]);
    TRY_VOID(read_range(*source, {branch.baskets.seek[index], stored.size()}, stored));
    return stored_basket(stored, n);
  }

  const BranchStorage& branch_of(StreamId id) const { return branches_[streams_[id].branch]; }
  std::size_t basket_count(StreamId id) const { return branch_of(id).baskets.seek.size(); }
  std::int64_t stream_entries(StreamId id) const {
    const auto& entry = branch_of(id).baskets.entry;
    return entry && !entry->empty() ? entry->back() : 0;
  }

  static const EmbeddedBasket* embedded_basket(const BranchStorage& branch, std::uint32_t index) {
    if (branch.baskets.seek[index] != 0) return nullptr;
    const auto found = std::find_if(branch.embedded.begin(), branch.embedded.end(),
                                    [&](const EmbeddedBasket& basket) { return basket.index == index; });
    return found == branch.embedded.end() ? nullptr : &*found;
  }

  static ItemsFrom items_from(const Stream& stream) {
    if (!size_gives_items(stream)) return ItemsFrom::payloads;
    return needs_no_size(stream) ? ItemsFrom::metadata : ItemsFrom::headers;
  }

  static bool needs_no_size(const Stream& stream) {
    return stream.form != Stream::Form::raw &&
           std::all_of(stream.lengths.begin(), stream.lengths.end(),
                       [](Stream::Length length) { return length != Stream::Length::unknown; });
  }

  // Bytes of data of one basket, from its header.
  Result<std::uint64_t> data_size(ChunkKey key, std::span<const std::byte> stored) const {
    if (key.index >= basket_count(key.stream)) return 0;
    const BranchStorage& branch = branch_of(key.stream);
    if (const EmbeddedBasket* embedded = embedded_basket(branch, key.index)) return embedded->data.size();
    TRY(const BasketHeader header, checked_header(key, stored));
    return header.border();
  }

  Result<BasketHeader> checked_header(ChunkKey key, std::span<const std::byte> stored) const {
    TRY(const BasketHeader header, read_basket_header(stored, branch_of(key.stream).baskets.nbytes[key.index]));
    if (header.entries != chunk_entries(key).size())
      return tl::unexpected<Error>(wrong_entries(header.entries, chunk_entries(key).size()));
    return header;
  }

  static Error wrong_entries(std::int64_t told_by_basket, std::int64_t told_by_branch) {
    return Error{
        ErrorKind::damaged,
        "basket has " + std::to_string(told_by_basket) + " entries, the branch says " + std::to_string(told_by_branch),
        -1, 0};
  }

  Result<BasketData> basket_data(ChunkKey key, std::span<const std::byte> stored) const {
    BasketData data;
    data.entries = chunk_entries(key).size();
    if (key.index >= basket_count(key.stream)) return data;
    if (const EmbeddedBasket* embedded = embedded_basket(branch_of(key.stream), key.index))
      return embedded_data(*embedded, data.entries);
    auto basket = stored_basket(stored, data.entries);
    if (!basket)
      return fail(
          basket.error().kind,
          "branch " + branch_of(key.stream).name + ", basket " + std::to_string(key.index) + ": " + basket.error().text,
          static_cast<std::int64_t>(branch_of(key.stream).baskets.seek[key.index]));
    return basket;
  }

  static Result<BasketData> embedded_data(const EmbeddedBasket& embedded, std::int64_t entries_told) {
    if (embedded.entries != entries_told) return tl::unexpected<Error>(wrong_entries(embedded.entries, entries_told));
    BasketData data;
    data.entries = entries_told;
    data.outside = embedded.data;
    data.size = embedded.data.size();
    data.offsets = embedded.offsets;
    data.keylen = embedded.keylen;
    return data;
  }

  static Result<BasketData> stored_basket(std::span<const std::byte> stored, std::int64_t entries_told) {
    TRY(BasketContent content, read_basket(stored));
    if (content.header.entries != entries_told)
      return tl::unexpected<Error>(wrong_entries(content.header.entries, entries_told));
    BasketData data;
    data.entries = entries_told;
    data.size = content.header.border();
    if (content.payload.size() == 0) data.outside = content.bytes;
    data.payload = std::move(content.payload);
    data.offsets = std::move(content.offsets);
    data.displacement = std::move(content.displacement);
    data.keylen = content.header.keylen;
    return data;
  }

  bool has_baskets_on_disk(StreamId id) const {
    const auto& seek = branch_of(id).baskets.seek;
    return std::any_of(seek.begin(), seek.end(), [](std::uint64_t at) { return at != 0; });
  }

  // Whether fTotBytes tells the data of all baskets: nothing lost, entry offsets in all or none.
  bool sizes_add_up(StreamId id) const {
    const BranchStorage& branch = branch_of(id);
    if (branch.io_bits != 0) return false;
    std::size_t on_disk = 0;
    for (std::uint64_t seek : branch.baskets.seek) on_disk += seek != 0;
    if (on_disk + branch.embedded.size() != branch.baskets.seek.size()) return false;
    return on_disk == 0 || branch.baskets.seek[0] != 0;
  }

  // The header of a branch told how many items its lists have: what it says of the keys of the others as well, which
  // differ in the branch's name.
  void note_lists(StreamId id, std::span<const std::byte> header0, std::int64_t items) const {
    if (!streams_[id].lists_of || header0.empty()) return;
    const auto header = checked_header({id, 0}, header0);
    if (!header) return;
    const std::lock_guard lock(lists_mutex_);
    lists_.insert_or_assign(*streams_[id].lists_of,
                            KnownLists{items, header->keylen - static_cast<std::int64_t>(branch_of(id).name.size())});
  }

  std::optional<std::vector<std::int64_t>> lengths_without_header(StreamId id) const {
    if (needs_no_size(streams_[id]) || !size_gives_items(streams_[id]) || !sizes_add_up(id)) return std::nullopt;
    if (has_baskets_on_disk(id)) return told_by_neighbour(id);
    const auto size = size_by_keylen(id, 0);
    if (!size) return std::nullopt;
    auto items = items_by_size(streams_[id], *size, stream_entries(id), true);
    if (!items) return std::nullopt;
    return *std::move(items);
  }

  // Lengths of a stream whose own header nobody has looked at, where another one with the same lists was: its bytes
  // must come to as many items.
  std::optional<std::vector<std::int64_t>> told_by_neighbour(StreamId id) const {
    const Stream& stream = streams_[id];
    if (!stream.lists_of) return std::nullopt;
    std::optional<KnownLists> known;
    {
      const std::lock_guard lock(lists_mutex_);
      if (const auto found = lists_.find(*stream.lists_of); found != lists_.end()) known = found->second;
    }
    if (!known) return std::nullopt;
    const auto size = size_by_keylen(id, known->keylen + static_cast<std::int64_t>(branch_of(id).name.size()));
    if (!size) return std::nullopt;
    auto items = items_by_size(stream, *size, stream_entries(id), true);
    if (!items || items->back() != known->items) return std::nullopt;
    return *std::move(items);
  }

  Result<std::optional<std::uint64_t>> total_data_size(StreamId id, std::span<const std::byte> header0) const {
    if (!has_baskets_on_disk(id)) return size_by_keylen(id, 0);
    TRY(const BasketHeader header, checked_header({id, 0}, header0));
    return size_by_keylen(id, header.keylen);
  }

  // fTotBytes holds the keys, the data and the entry offsets (n + 1 of them after a count) of the baskets on disk.
  std::optional<std::uint64_t> size_by_keylen(StreamId id, std::int64_t keylen) const {
    using Size = std::optional<std::uint64_t>;
    const BranchStorage& branch = branch_of(id);
    std::uint64_t size = 0;
    for (const EmbeddedBasket& basket : branch.embedded) size += basket.data.size();
    std::int64_t disk_entries = 0, disk_baskets = 0;
    for (std::uint32_t i = 0; i < branch.baskets.seek.size(); ++i) {
      if (branch.baskets.seek[i] == 0) continue;
      ++disk_baskets;
      disk_entries += chunk_entries({id, i}).size();
    }
    if (disk_baskets == 0) return Size(size);
    std::int64_t rest = branch.tot_bytes - disk_baskets * keylen;
    if (branch.entry_offset_len != 0)
      rest -= static_cast<std::int64_t>(kOffsetSize) * (disk_entries + 2 * disk_baskets);
    return rest < 0 ? Size() : Size(size + static_cast<std::uint64_t>(rest));
  }

  // The items of each entry where the basket leaves its offsets out; offsets too where the program needs them.
  Result<std::vector<std::int64_t>> missing_offsets(ChunkKey key, BasketData& data,
                                                    std::span<const std::shared_ptr<const Chunk>> inputs) const {
    const Stream& stream = streams_[key.stream];
    if (stream.item_counter_branch && data.entries > 0) {
      TRY(data.item_counts, item_counts(key, inputs));
      return std::vector<std::int64_t>();
    }
    if (!data.offsets.empty() || !stream.counter || data.entries == 0) return std::vector<std::int64_t>();
    TRY(auto counts, entry_counts(key, inputs));
    if (stream.packed_item_size != 0) TRY_VOID(offsets_from_counts(stream, data, counts));
    return counts;
  }

  // Items of each entry of a basket, from the arrays of the counter's chunks.
  Result<std::vector<std::int64_t>> entry_counts(ChunkKey key,
                                                 std::span<const std::shared_ptr<const Chunk>> chunks) const {
    const Stream::Counter& counter = *streams_[key.stream].counter;
    const std::vector<ChunkKey> keys = inputs(key);
    const EntryRange wanted = chunk_entries(key);
    std::vector<std::int64_t> counts;
    if (chunks.size() != keys.size()) return fail(ErrorKind::invalid, "basket: chunks of its counter are missing");
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const EntryRange have = chunk_entries(keys[i]);
      const auto array = chunks[i]->arrays[counter.slot];
      for (std::int64_t e = std::max(wanted.begin, have.begin); e < std::min(wanted.end, have.end); ++e) {
        const std::size_t at = static_cast<std::size_t>(e - have.begin) * size_of(counter.dtype);
        if (at + size_of(counter.dtype) > array.size())
          return fail(ErrorKind::damaged, "basket: its counter is too short");
        counts.push_back(count_at(array.data() + at, counter.dtype));
      }
    }
    if (static_cast<std::int64_t>(counts.size()) != wanted.size())
      return fail(ErrorKind::damaged, "basket: its counter covers other entries");
    return counts;
  }

  // What the counter says of each item from the chunk's first entry on.
  Result<std::vector<std::int64_t>> item_counts(ChunkKey key,
                                                std::span<const std::shared_ptr<const Chunk>> chunks) const {
    const Stream& stream = streams_[key.stream];
    if (!stream.item_counter)
      return fail(ErrorKind::unsupported, "basket: the branch that counts its arrays is not decoded");
    const Stream::Counter& counter = *stream.item_counter;
    const std::vector<ChunkKey> keys = inputs(key);
    if (chunks.size() != keys.size()) return fail(ErrorKind::invalid, "basket: chunks of its counter are missing");
    const std::int64_t wanted = chunk_entries(key).begin;
    const std::int64_t begin = keys.empty() ? wanted : chunk_entries(keys[0]).begin;
    std::int64_t passed = 0;  // items before ours
    std::vector<std::int64_t> counts;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].stream == stream.collection) {
        const EntryRange have = chunk_entries(keys[i]);
        const bool is_ours = have.begin < wanted && wanted <= have.end && i + 1 == keys.size();
        TRY(const std::int64_t end, end_before(*chunks[i], have, is_ours ? wanted : begin));
        passed += is_ours ? end : -end;
        continue;
      }
      const auto array = chunks[i]->arrays[counter.slot];
      for (std::size_t at = 0; at + size_of(counter.dtype) <= array.size(); at += size_of(counter.dtype))
        counts.push_back(count_at(array.data() + at, counter.dtype));
    }
    if (passed < 0 || passed > static_cast<std::int64_t>(counts.size()))
      return fail(ErrorKind::damaged, "basket: its counter covers other entries");
    counts.erase(counts.begin(), counts.begin() + passed);
    return counts;
  }

  // The item behind the last of the entry before `entry`, from a chunk of ends.
  static Result<std::int64_t> end_before(const Chunk& chunk, EntryRange have, std::int64_t entry) {
    const auto array = chunk.arrays[0];
    const std::int64_t leading = static_cast<std::int64_t>(array.size() / sizeof(std::int64_t)) - have.size();
    const std::int64_t at = entry - 1 - have.begin + leading;
    if (at < 0 || static_cast<std::uint64_t>(at + 1) * sizeof(std::int64_t) > array.size())
      return fail(ErrorKind::damaged, "basket: its collection has other entries");
    return load_little<std::int64_t>(array.data() + static_cast<std::size_t>(at) * sizeof(std::int64_t));
  }

  std::vector<ChunkKey> chunks_over(StreamId stream, EntryRange wanted) const {
    std::vector<ChunkKey> keys;
    if (!branch_of(stream).baskets.entry) return keys;
    const auto& boundaries = *branch_of(stream).baskets.entry;
    const auto at = std::upper_bound(boundaries.begin(), boundaries.end(), wanted.begin);
    auto index = static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(at - boundaries.begin() - 1, 0));
    for (; index + 1 < boundaries.size() && boundaries[index] < wanted.end; ++index) keys.push_back({stream, index});
    return keys;
  }

  static std::int64_t count_at(const std::byte* p, Dtype dtype) {
    switch (size_of(dtype)) {
      case 1:
        return load_little<std::uint8_t>(p);
      case 2:
        return load_little<std::uint16_t>(p);
      case 4:
        return load_little<std::int32_t>(p);
      default:
        return load_little<std::int64_t>(p);
    }
  }

  Result<const Source*> source_of(const BranchStorage& branch) const {
    if (branch.file_name.empty()) return source_.get();
    const auto& sibling = siblings_.at(branch.file_name);
    if (sibling) return sibling->get();
    // For this column its bytes are gone, whatever the reason, and that lasts as long as the table does.
    return fail(ErrorKind::damaged, "branch " + branch.name + " is stored in " + branch.file_name +
                                        ", which cannot be opened: " + sibling.error().text);
  }

  // The streams that a stream is decoded from, itself among them.
  void add_origins(StreamId id, std::set<StreamId>& into) const {
    if (!into.insert(id).second) return;
    const Stream& stream = streams_[id];
    if (stream.counter) add_origins(stream.counter->stream, into);
    if (!stream.item_counter) return;
    add_origins(stream.item_counter->stream, into);
    add_origins(stream.collection, into);
  }

  void open_siblings() {
    for (const BranchRecord& branch : tree_.branches) {
      if (branch.file_name.empty() || siblings_.contains(branch.file_name)) continue;
      auto sibling = source_->sibling(branch.file_name);
      if (!sibling)
        warnings.push_back("branch " + branch.name + " is stored in " + branch.file_name +
                           ", which cannot be opened: " + sibling.error().text);
      else
        siblings.push_back({branch.file_name, (*sibling)->identity()});
      siblings_.emplace(branch.file_name, std::move(sibling));
    }
  }

  std::shared_ptr<const Source> source_;
  TreeRecord tree_;  // empty once the nodes are made
  std::vector<BranchStorage> branches_;
  std::vector<Stream> streams_;
  mutable SharedEnds shared_ends_;
  struct KnownLists {
    std::int64_t items = 0;
    std::int64_t keylen = 0;  // of a basket, without the branch's name
  };
  mutable std::mutex lists_mutex_;
  mutable std::map<BranchIndex, KnownLists> lists_;  // by the branch that counts them
  std::map<std::string, Result<std::shared_ptr<const Source>>> siblings_;
};

}  // namespace

Result<std::shared_ptr<const Table>> open_tree(std::shared_ptr<const Source> source, std::span<const std::byte> payload,
                                               std::uint32_t keylen, const std::string& class_name,
                                               const StreamerInfos& infos, const std::vector<std::string>& warnings) {
  auto tree = read_tree(payload, keylen, class_name, infos);
  if (!tree && tree.error().kind != ErrorKind::unsupported) return tl::unexpected<Error>(std::move(tree).error());
  TreeRecord record;
  if (tree) record = *std::move(tree);
  auto table = std::make_shared<TreeTable>(std::move(source), std::move(record), infos);
  table->warnings.insert(table->warnings.begin(), warnings.begin(), warnings.end());
  if (!tree) table->reason = tree.error().text;
  return std::shared_ptr<const Table>(std::move(table));
}

}  // namespace tfile
