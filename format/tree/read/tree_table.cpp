// SPDX-License-Identifier: Apache-2.0
#include "tree/read/tree_table.h"

#include <algorithm>
#include <map>
#include <set>

#include "bytes/endian.h"
#include "streamer/layout/chunk_of_arrays.h"
#include "tfile/mutex.h"
#include "tree/read/basket_data.h"
#include "tree/read/branch_nodes.h"
#include "tree/read/cluster_boundaries.h"
#include "tree/read/stream_slots.h"
#include "tree/read/table_memory.h"
#include "tree/read/table_trials.h"
#include "tree/record/tree_record.h"

namespace tfile {
namespace {

// Room for the fixed fields of a basket's key and header and for long names: one read gets everything.
constexpr std::uint64_t kHeaderRoom = 512;
constexpr std::uint64_t kOffsetSize = 4;

class TreeTable final : public Table, public ItemCounter, public std::enable_shared_from_this<TreeTable> {
 public:
  TreeTable(std::shared_ptr<const Source> source, TreeRecord tree, std::shared_ptr<const StreamerInfos> infos)
      : source_(std::move(source)) {
    name = tree.name;
    title = tree.title;
    kind = "ttree";
    entries = tree.entries;
    warnings = std::move(tree.warnings);
    friends = std::move(tree.friends);
    aliases = std::move(tree.aliases);
    has_index = tree.has_index;
    clusters = cluster_boundaries(tree);
    open_siblings(tree);
    const auto source_of_branch = [this](const BranchStorage& branch) { return source_of(branch); };
    BranchNodes made = make_outline(tree, *infos, [&](BranchIndex branch, bool in_list) {
      return tried_now(tree, branch, *infos, in_list, source_of_branch);
    });
    nodes = std::move(made.nodes);
    columns = std::move(made.columns);
    streams_ = StreamSlots(std::move(made.streams));
    branches_.reserve(tree.branches.size());
    for (BranchRecord& branch : tree.branches) {
      branches_.push_back(std::move(static_cast<BranchStorage&>(branch)));
      branch.name = branches_.back().name;
    }
    for (const UntriedBranch& branch : made.untried) untried.push_back(branch.node);
    contradicted_ = contradicted_branches(columns, streams_, made.untried, branches_, source_of_branch);
    for (const auto& [branch, why] : contradicted_) leave_out_baskets(branches_[branch]);
    for (const BranchStorage& branch : branches_) stored_bytes_.push_back(bytes_on_disk(branch));
    note_missing_values(columns);
    for (ColumnId id = 0; id < columns.size(); ++id)
      if (is_doubtful(columns, columns[id])) may_be_unwritten.push_back(id);
    if (is_whole()) return;
    trials_ = std::make_unique<const TableTrials>(std::move(tree), std::move(infos), std::move(made.untried),
                                                  std::move(made.tried_at_opening), branches_, source_of_branch,
                                                  streams_, columns);
  }

  Result<std::shared_ptr<const Table>> tried(NodeId node, std::size_t ahead) const override {
    if (!is_untried(node)) return fail(ErrorKind::invalid, "the node is not a branch that needs a trial");
    const auto id = static_cast<UntriedId>(std::ranges::lower_bound(untried, node) - untried.begin());
    TRY_VOID(trials_->try_branch(id, ahead));
    BranchNodes below = trials_->nodes_below(id, nodes[node]);
    note_missing_values(below.columns);
    return table_below(shared_from_this(), std::move(below));
  }

  Result<std::shared_ptr<const Table>> whole() const override {
    if (!trials_) return shared_from_this();
    TRY(const auto untold, trials_->try_all());
    BranchNodes all = trials_->all_nodes(untold);
    note_missing_values(all.columns);
    std::set<ColumnId> left_unread;
    for (ColumnId id = 0; id < all.columns.size(); ++id) {
      const auto failed = untold.find(all.columns[id].stream);
      if (failed == untold.end()) continue;
      all.columns[id].reason = cannot_be_read(failed->second);  // also the reason of its offsets
      left_unread.insert(id);
    }
    TRY_VOID(note_unwritten(all.columns, left_unread));
    return whole_table(shared_from_this(), std::move(all), {left_unread.begin(), left_unread.end()});
  }

  std::vector<Column> columns_tried(StreamId id) const override {
    const auto branch = trials_ ? trials_->tried_with(id) : std::nullopt;
    if (!branch) return {};
    std::vector<Column> found = trials_->nodes_below(*branch, Node()).columns;
    note_missing_values(found);
    std::erase_if(found, [&](const Column& column) { return column.stream != id; });
    return found;
  }

  std::size_t memory() const override {
    return memory_of(*this) + memory_of(std::span(streams_.opened())) + memory_of(std::span(branches_)) +
           (trials_ ? trials_->memory() : 0);
  }

  std::size_t stream_count() const override { return streams_.size(); }
  StreamShape shape(StreamId id) const override {
    const Stream& stream = streams_[id];
    return {.chunks = stream.is_stand_in ? 0 : std::max<std::size_t>(basket_count(id), 1),
            .slots = stream.lengths.size(),
            .items_from = items_from(stream),
            .stored_bytes = stored_bytes_[stream.branch]};
  }

  // The values of a list's counter are part of its offsets, wherever the counter is stored.
  std::vector<Sibling> siblings_of(StreamId id) const override {
    if (siblings.empty()) return {};
    std::set<StreamId> from;
    add_origins(id, from);
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
    locator.range.size = std::min(locator.range.size, header_max(branch_of(key.stream)));
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
    // Ends take 8 bytes in memory, and at most 4 in the file.
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
    // If the counters begin at an earlier entry, the collection's ends say how many of them to skip.
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
    if (!needs_no_size(stream)) return fail(ErrorKind::invalid, "extents are known only after reading the baskets");
    ExtentSum sum(stream.lengths.size());
    std::vector<std::int64_t> items(stream.lengths.size());
    for (std::uint32_t i = 0, count = static_cast<std::uint32_t>(chunk_count(id)); i < count; ++i) {
      const std::int64_t n = chunk_entries({id, i}).size();
      for (std::size_t slot = 0; slot < items.size(); ++slot)
        items[slot] = n + (i == 0 && stream.lengths[slot] == Stream::Length::entries_and_one ? 1 : 0);
      sum.add(items);
    }
    return sum.take();
  }

  std::vector<StreamId> telling_streams() const override {
    std::vector<StreamId> wanted;
    std::set<BranchIndex> told;
    for (StreamId id = 0; id < streams_.size(); ++id) {
      const Stream& stream = streams_[id];
      if (stream.is_stand_in || items_from(stream) != ItemsFrom::headers || !has_baskets_on_disk(branch_of(id)))
        continue;
      if (!stream.lists_of || told.insert(*stream.lists_of).second || contradicts_neighbour(id)) wanted.push_back(id);
    }
    return wanted;
  }

  // Notes the number of items in the lists, and the size of the key, for the other branches with the same lists; their
  // keys differ only in the branch's name.
  void note_counted(StreamId id, std::span<const std::int64_t> lengths,
                    std::span<const std::byte> header0) const override {
    const Stream& stream = streams_[id];
    if (!stream.lists_of || lengths.empty() || basket_count(id) == 0 || branch_of(id).baskets.seek[0] == 0) return;
    const auto header = checked_header({id, 0}, header0);
    if (!header) return;
    const Lock lock(lists_mutex_);
    lists_.insert_or_assign(
        *stream.lists_of,
        KnownLists{lengths.back(), header->keylen - static_cast<std::int64_t>(branch_of(id).name.size())});
  }

  std::uint64_t unpacked_size(ChunkKey key, std::span<const std::byte> stored) const override {
    if (key.index >= basket_count(key.stream) || embedded_basket(branch_of(key.stream), key.index)) return 0;
    const auto header = read_basket_header(stored, stored.size());
    return header ? std::uint64_t{header->objlen} + header->keylen : 0;
  }

  std::string contradicted_sums(StreamId id, std::uint64_t unpacked) const override {
    const BranchStorage& branch = branch_of(id);
    std::string wrong;
    const auto compare = [&](const char* sum, std::int64_t claimed, std::uint64_t there) {
      if (claimed == static_cast<std::int64_t>(there)) return;
      wrong += (wrong.empty() ? "" : ", ") + std::string(sum) + " is " + std::to_string(claimed) +
               ", and its baskets have " + std::to_string(there);
    };
    compare("fTotBytes", branch.tot_bytes, unpacked);
    compare("fZipBytes", branch.zip_bytes, stored_bytes_[streams_[id].branch]);
    return wrong;
  }

  Result<Chunk> decode(ChunkKey key, std::span<const std::byte> stored,
                       std::span<const std::shared_ptr<const Chunk>> inputs,
                       std::span<const std::int64_t> first) const override {
    auto chunk = chunk_of(key, stored, inputs, first);
    if (!chunk) chunk.error().source = branch_of(key.stream).file_name;
    return chunk;
  }

 private:
  struct KnownLists {
    std::int64_t items = 0;
    std::int64_t keylen = 0;  // size of a basket's key, without the branch's name
  };

  Result<Chunk> chunk_of(ChunkKey key, std::span<const std::byte> stored,
                         std::span<const std::shared_ptr<const Chunk>> inputs,
                         std::span<const std::int64_t> first) const {
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

  // ROOT makes branches even for members that it cannot reach, such as those of std::array in a vector, and writes
  // nothing to them. Whether, according to the record, the column may be such a member.
  bool is_doubtful(std::span<const Column> all, const Column& column) const {
    if (column.lists.empty() || column.role != Role::values || !column.reason.empty()) return false;
    const StreamId lists = list_around(all, column);
    const Stream::Kind stored = streams_[column.stream].kind;
    if (lists == column.stream || (stored != Stream::Kind::flat && stored != Stream::Kind::program)) return false;
    return may_hold_nothing(column.stream) && basket_count(lists) > 0;
  }

  // Whether a stream has all its baskets, and they may consist of nothing but their keys: a guess, since fTotBytes may
  // be wrong.
  bool may_hold_nothing(StreamId id) const {
    const BranchStorage& branch = branch_of(id);
    if (!sizes_add_up(id)) return false;
    const auto on_disk = basket_count(id) - branch.embedded.size();
    const auto offsets_max = branch.entry_offset_len == 0 ? 0 : kOffsetSize * (stream_entries(id) + 2 * on_disk);
    return static_cast<std::uint64_t>(branch.tot_bytes) <= on_disk * header_max(branch) + offsets_max;
  }

  // Reads the headers of the doubtful columns' baskets together, then the counts of their lists. Columns for which the
  // storage fails to deliver these are unread.
  Result<> note_unwritten(std::vector<Column>& all, std::set<ColumnId>& left_unread) const {
    std::vector<ColumnId> doubtful;
    for (ColumnId id = 0; id < all.size(); ++id)
      if (is_doubtful(all, all[id])) doubtful.push_back(id);
    // Most have items in their first basket. The others are small.
    for (const bool whole : {false, true}) TRY_VOID(keep_those_without_items(all, doubtful, whole, left_unread));
    for (std::span<const ColumnId> left = doubtful; !left.empty();) {
      TrialBaskets counts = no_baskets();
      std::size_t count = 0;
      for (; count < left.size() && counts.wanted_bytes() < TrialBaskets::kPlanBytes; ++count)
        counts.want(streams_[list_around(all, all[left[count]])].branch, 0);
      TRY_VOID(note_unwritten(all, left.first(count), counts, left_unread));
      left = left.subspan(count);
    }
    return {};
  }

  // Of these columns, those whose first basket, or all of whose baskets, have no items.
  Result<> keep_those_without_items(std::vector<Column>& all, std::vector<ColumnId>& columns_left, bool whole,
                                    std::set<ColumnId>& left_unread) const {
    std::vector<ColumnId> kept;
    for (std::span<const ColumnId> left = columns_left; !left.empty();) {
      TrialBaskets headers = no_baskets();
      std::size_t count = 0;
      for (; count < left.size() && headers.wanted_bytes() < TrialBaskets::kPlanBytes; ++count) {
        const StreamId stream = all[left[count]].stream;
        for (std::uint32_t i = 0; i < baskets_looked_at(stream, whole); ++i)
          headers.want(streams_[stream].branch, i, header_max(branch_of(stream)));
      }
      headers.read_wanted();
      for (const ColumnId id : left.first(count)) {
        headers.begin();
        if (holds_nothing(all[id].stream, headers, whole)) kept.push_back(id);
        TRY_VOID(note_failure(headers, all, id, left_unread));
      }
      left = left.subspan(count);
    }
    columns_left = std::move(kept);
    return {};
  }
  std::uint32_t baskets_looked_at(StreamId id, bool whole) const {
    return static_cast<std::uint32_t>(whole ? basket_count(id) : std::min<std::size_t>(basket_count(id), 1));
  }

  Result<> note_unwritten(std::vector<Column>& all, std::span<const ColumnId> empty, TrialBaskets& counts,
                          std::set<ColumnId>& left_unread) const {
    counts.read_wanted();
    for (const ColumnId id : empty) {
      const StreamId lists = list_around(all, all[id]);
      counts.begin();
      if (counts_items(counts, streams_[lists].branch, stream_entries(lists)))
        all[id].reason = "its lists have items, but it was not written";
      TRY_VOID(note_failure(counts, all, id, left_unread));
    }
    return {};
  }

  static Result<> note_failure(const TrialBaskets& baskets, std::span<Column> all, ColumnId id,
                               std::set<ColumnId>& left_unread) {
    if (!baskets.failure()) return {};
    if (baskets.failure()->kind != ErrorKind::io) return tl::unexpected<Error>(*baskets.failure());
    all[id].reason = cannot_be_read(*baskets.failure());
    left_unread.insert(id);
    return {};
  }

  // Columns whose bytes are missing, or contradict their lists, have no values, and a reason.
  void note_missing_values(std::span<Column> all) const {
    for (Column& column : all) {
      if (!column.reason.empty()) continue;
      if (const BranchStorage* missing = missing_branch(column.stream)) {
        column.reason = in_missing_file(*missing);
        continue;
      }
      const auto found = contradicted_.find(streams_[column.stream].branch);
      if (found != contradicted_.end() && list_of_others(all, column)) column.reason = found->second;
    }
  }

  // Of the branches from which a stream is decoded, one whose file cannot be opened.
  const BranchStorage* missing_branch(StreamId id) const {
    if (siblings.size() == siblings_.size()) return nullptr;
    std::set<StreamId> from;
    add_origins(id, from);
    for (const StreamId origin : from)
      if (const BranchStorage& branch = branch_of(origin);
          has_baskets_elsewhere(branch) && !siblings_.at(branch.file_name))
        return &branch;
    return nullptr;
  }
  // Whether the branch has baskets in another file. (Baskets that were not full when the tree was written are in the
  // tree's record.)
  static bool has_baskets_elsewhere(const BranchStorage& branch) {
    return !branch.file_name.empty() && has_baskets_on_disk(branch);
  }
  std::string in_missing_file(const BranchStorage& branch) const {
    return "branch " + branch.name + " is stored in " + branch.file_name +
           ", which cannot be opened: " + siblings_.at(branch.file_name).error().text;
  }

  // Makes a branch look as if it had never been filled.
  static void leave_out_baskets(BranchStorage& branch) {
    branch.baskets = {{}, {}, std::make_shared<const std::vector<std::int64_t>>(1, 0)};
    branch.embedded.clear();
    branch.tot_bytes = 0;
  }

  TrialBaskets no_baskets() const {
    return {[this](BranchIndex index) -> const BranchStorage& { return branches_[index]; },
            [this](const BranchStorage& branch) { return source_of(branch); }};
  }
  static StreamId list_around(std::span<const Column> all, const Column& column) {
    return all[column.lists.back()].stream;
  }

  bool holds_nothing(StreamId id, TrialBaskets& headers, bool whole) const {
    for (std::uint32_t i = 0; i < baskets_looked_at(id, whole); ++i) {
      Result<std::span<const std::byte>> header = std::span<const std::byte>();
      if (!embedded_basket(branch_of(id), i)) header = headers.stored(streams_[id].branch, i);
      if (!header) return false;
      const auto size = data_size({id, i}, *header);
      if (!size || *size != 0) return false;
    }
    return true;
  }

  std::uint64_t header_max(const BranchStorage& branch) const {
    return kHeaderRoom + branch.name.size() + name.size() + title.size();
  }

  const BranchStorage& branch_of(StreamId id) const { return branches_[streams_[id].branch]; }
  std::size_t basket_count(StreamId id) const { return branch_of(id).baskets.seek.size(); }
  std::int64_t stream_entries(StreamId id) const {
    const auto& entry = branch_of(id).baskets.entry;
    return entry && !entry->empty() ? entry->back() : 0;
  }

  static ItemsFrom items_from(const Stream& stream) {
    if (!size_gives_items(stream)) return ItemsFrom::payloads;
    return needs_no_size(stream) ? ItemsFrom::metadata : ItemsFrom::headers;
  }

  static bool needs_no_size(const Stream& stream) {
    return stream.kind != Stream::Kind::raw &&
           std::all_of(stream.lengths.begin(), stream.lengths.end(),
                       [](Stream::Length length) { return length != Stream::Length::unknown; });
  }

  // The size of the data of one basket, from its header.
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

  static bool has_baskets_on_disk(const BranchStorage& branch) {
    return std::ranges::any_of(branch.baskets.seek, [](std::uint64_t at) { return at != 0; });
  }
  static std::uint64_t bytes_on_disk(const BranchStorage& branch) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < branch.baskets.seek.size(); ++i)
      sum += branch.baskets.seek[i] != 0 ? branch.baskets.nbytes[i] : 0;
    return sum;
  }

  // Whether fTotBytes can give the size of the data of all baskets: nothing is lost, and either all or none have entry
  // offsets.
  bool sizes_add_up(StreamId id) const {
    const BranchStorage& branch = branch_of(id);
    if (branch.io_bits != 0) return false;
    std::size_t on_disk = 0;
    for (std::uint64_t seek : branch.baskets.seek) on_disk += seek != 0;
    if (on_disk + branch.embedded.size() != branch.baskets.seek.size()) return false;
    return on_disk == 0 || branch.baskets.seek[0] != 0;
  }

  // What the record alone tells: of baskets that are in it, everything. Of others only sums, which may be wrong (ROOT
  // 5.34 has counted baskets twice): they are believed where they give as many items as were counted in a branch with
  // the same lists.
  std::optional<std::vector<std::int64_t>> lengths_without_header(StreamId id) const {
    if (items_from(streams_[id]) != ItemsFrom::headers || !sizes_add_up(id)) return std::nullopt;
    if (has_baskets_on_disk(branch_of(id))) return told_by_neighbour(id);
    std::uint64_t size = 0;
    for (const EmbeddedBasket& basket : branch_of(id).embedded) size += basket.data.size();
    auto items = items_by_size(streams_[id], size, stream_entries(id), true);
    if (!items) return std::nullopt;
    return *std::move(items);
  }

  std::optional<KnownLists> known_lists(const Stream& stream) const {
    if (!stream.lists_of) return std::nullopt;
    const Lock lock(lists_mutex_);
    const auto found = lists_.find(*stream.lists_of);
    return found == lists_.end() ? std::nullopt : std::optional(found->second);
  }
  bool contradicts_neighbour(StreamId id) const { return known_lists(streams_[id]) && !lengths_without_header(id); }

  std::optional<std::vector<std::int64_t>> told_by_neighbour(StreamId id) const {
    const Stream& stream = streams_[id];
    const BranchStorage& branch = branch_of(id);
    const auto known = known_lists(stream);
    if (!known || branch.zip_bytes != static_cast<std::int64_t>(stored_bytes_[stream.branch])) return std::nullopt;
    const auto size = size_by_keylen(id, known->keylen + static_cast<std::int64_t>(branch.name.size()));
    if (!size) return std::nullopt;
    auto items = items_by_size(stream, *size, stream_entries(id), true);
    if (!items || items->back() != known->items) return std::nullopt;
    return *std::move(items);
  }

  // What the size of the data is if fTotBytes is right. It includes the keys, the data and the entry offsets (a count,
  // then n + 1 of them) of the baskets on disk.
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
    std::int64_t rest = branch.tot_bytes - disk_baskets * keylen;
    if (branch.entry_offset_len != 0)
      rest -= static_cast<std::int64_t>(kOffsetSize) * (disk_entries + 2 * disk_baskets);
    return rest < 0 ? Size() : Size(size + static_cast<std::uint64_t>(rest));
  }

  // The items of each entry, for a basket without offsets; also computes the offsets if the program needs them.
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

  // The items of each entry of a basket, from the chunks of its counter.
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
          return fail(ErrorKind::damaged, "basket: its counter ends before entry " + std::to_string(e) + ", after " +
                                              std::to_string(array.size()) + " bytes");
        counts.push_back(count_at(array.data() + at, counter.dtype));
      }
    }
    if (static_cast<std::int64_t>(counts.size()) != wanted.size())
      return fail(ErrorKind::damaged, "basket: its counter covers " + std::to_string(counts.size()) + " of entries " +
                                          std::to_string(wanted.begin) + " to " + std::to_string(wanted.end));
    return counts;
  }

  // The counter's value for each item, beginning with the chunk's first entry.
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
    std::int64_t passed = 0;  // items before this chunk's
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
      return fail(ErrorKind::damaged, "basket: its counter covers " + std::to_string(counts.size()) +
                                          " items, the collection has " + std::to_string(passed) + " before entry " +
                                          std::to_string(wanted));
    counts.erase(counts.begin(), counts.begin() + passed);
    return counts;
  }

  // The end of the entry before `entry`, from a chunk of ends.
  static Result<std::int64_t> end_before(const Chunk& chunk, EntryRange have, std::int64_t entry) {
    const auto array = chunk.arrays[0];
    const std::int64_t leading = static_cast<std::int64_t>(array.size() / sizeof(std::int64_t)) - have.size();
    const std::int64_t at = entry - 1 - have.begin + leading;
    if (at < 0 || static_cast<std::uint64_t>(at + 1) * sizeof(std::int64_t) > array.size())
      return fail(ErrorKind::damaged, "basket: its collection covers entries " + std::to_string(have.begin) + " to " +
                                          std::to_string(have.end) + ", without the end of entry " +
                                          std::to_string(entry - 1));
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
    const auto sibling = siblings_.find(branch.file_name);
    if (sibling == siblings_.end())
      return fail(ErrorKind::damaged, "branch " + branch.name + ": its file " + branch.file_name + " was not opened");
    if (sibling->second) return sibling->second->get();
    // To a reader of this column the bytes are missing, whatever the reason, for the life of the table.
    return fail(ErrorKind::damaged, in_missing_file(branch));
  }

  // The streams from which a stream is decoded, including itself.
  void add_origins(StreamId id, std::set<StreamId>& into) const {
    if (!into.insert(id).second) return;
    const Stream& stream = streams_[id];
    if (stream.counter) add_origins(stream.counter->stream, into);
    if (!stream.item_counter) return;
    add_origins(stream.item_counter->stream, into);
    add_origins(stream.collection, into);
  }

  void open_siblings(const TreeRecord& tree) {
    for (const BranchRecord& branch : tree.branches) {
      if (!has_baskets_elsewhere(branch) || siblings_.contains(branch.file_name)) continue;
      const auto& sibling = siblings_.emplace(branch.file_name, source_->sibling(branch.file_name)).first->second;
      if (sibling)
        siblings.push_back({branch.file_name, (*sibling)->identity()});
      else
        warnings.push_back(in_missing_file(branch));
    }
  }

  std::shared_ptr<const Source> source_;
  std::vector<BranchStorage> branches_;
  std::vector<std::uint64_t> stored_bytes_;          // of each branch: the sizes of its baskets, added up
  std::map<BranchIndex, std::string> contradicted_;  // with the reason
  StreamSlots streams_;
  mutable SharedEnds shared_ends_;
  mutable Mutex lists_mutex_{"TreeTable::lists_mutex_"};
  mutable std::map<BranchIndex, KnownLists> lists_ GUARDED_BY(lists_mutex_);  // by the branch that counts them
  std::map<std::string, Result<std::shared_ptr<const Source>>> siblings_;
  std::unique_ptr<const TableTrials> trials_;  // nullptr if no branch needs a trial
};

}  // namespace

Result<std::shared_ptr<const Table>> open_tree(std::shared_ptr<const Source> source, std::span<const std::byte> payload,
                                               std::uint32_t keylen, const std::string& class_name,
                                               std::shared_ptr<const StreamerInfos> infos,
                                               const std::vector<std::string>& warnings) {
  auto tree = read_tree(payload, keylen, class_name, *infos);
  if (!tree && tree.error().kind != ErrorKind::unsupported) return tl::unexpected<Error>(std::move(tree).error());
  TreeRecord record;
  if (tree) record = *std::move(tree);
  auto table = std::make_shared<TreeTable>(std::move(source), std::move(record), std::move(infos));
  table->warnings.insert(table->warnings.begin(), warnings.begin(), warnings.end());
  if (!tree) table->reason = tree.error().text;
  return std::shared_ptr<const Table>(std::move(table));
}

}  // namespace tfile
