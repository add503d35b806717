// SPDX-License-Identifier: Apache-2.0
// How many items a stream has: by the tree's record, by headers of baskets, by decoding, or by a neighbour.
#include <algorithm>
#include <set>
#include <vector>

#include "tree/read/basket_data.h"
#include "tree/read/tree_streams.h"

namespace tfile {

Result<ItemCounter::Counted> TreeTable::count(ChunkKey key, std::span<const std::byte> bytes,
                                              std::span<const std::shared_ptr<const Chunk>> inputs) const {
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

std::vector<std::int64_t> TreeTable::lengths(StreamId id) const {
  const Stream& stream = streams_[id];
  const std::int64_t n = stream_entries(id);
  if (auto items = lengths_without_header(id)) return *std::move(items);
  std::vector<std::int64_t> known;
  for (auto length : stream.lengths)
    known.push_back(length == Stream::Length::unknown ? -1 : length == Stream::Length::entries ? n : n + 1);
  return known;
}

Result<Extents> TreeTable::extents(StreamId id) const {
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

std::vector<StreamId> TreeTable::telling_streams() const {
  std::vector<StreamId> wanted;
  std::set<BranchIndex> told;
  for (StreamId id = 0; id < streams_.size(); ++id) {
    const Stream& stream = streams_[id];
    if (stream.is_stand_in || items_from(stream) != ItemsFrom::headers || !has_baskets_on_disk(branch_of(id))) continue;
    if (!stream.lists_of || told.insert(*stream.lists_of).second || contradicts_neighbour(id)) wanted.push_back(id);
  }
  return wanted;
}

void TreeTable::note_counted(StreamId id, std::span<const std::int64_t> lengths,
                             std::span<const std::byte> header0) const {
  const Stream& stream = streams_[id];
  if (!stream.lists_of || lengths.empty() || basket_count(id) == 0 || branch_of(id).baskets.seek[0] == 0) return;
  const auto header = checked_header({id, 0}, header0);
  if (!header) return;
  const Lock lock(lists_mutex_);
  lists_.insert_or_assign(
      *stream.lists_of,
      KnownLists{lengths.back(), header->keylen - static_cast<std::int64_t>(branch_of(id).name.size())});
}

ItemsFrom TreeTable::items_from(const Stream& stream) {
  if (!size_gives_items(stream)) return ItemsFrom::payloads;
  return needs_no_size(stream) ? ItemsFrom::metadata : ItemsFrom::headers;
}

bool TreeTable::needs_no_size(const Stream& stream) {
  return stream.kind != Stream::Kind::raw &&
         std::all_of(stream.lengths.begin(), stream.lengths.end(),
                     [](Stream::Length length) { return length != Stream::Length::unknown; });
}

bool TreeTable::sizes_add_up(StreamId id) const {
  const BranchStorage& branch = branch_of(id);
  if (branch.io_bits != 0) return false;
  std::size_t on_disk = 0;
  for (std::uint64_t seek : branch.baskets.seek) on_disk += seek != 0;
  if (on_disk + branch.embedded.size() != branch.baskets.seek.size()) return false;
  return on_disk == 0 || branch.baskets.seek[0] != 0;
}

std::optional<std::vector<std::int64_t>> TreeTable::lengths_without_header(StreamId id) const {
  if (items_from(streams_[id]) != ItemsFrom::headers || !sizes_add_up(id)) return std::nullopt;
  if (has_baskets_on_disk(branch_of(id))) return told_by_neighbour(id);
  std::uint64_t size = 0;
  for (const EmbeddedBasket& basket : branch_of(id).embedded) size += basket.data.size();
  auto items = items_by_size(streams_[id], size, stream_entries(id), true);
  if (!items) return std::nullopt;
  return *std::move(items);
}

std::optional<TreeTable::KnownLists> TreeTable::known_lists(const Stream& stream) const {
  if (!stream.lists_of) return std::nullopt;
  const Lock lock(lists_mutex_);
  const auto found = lists_.find(*stream.lists_of);
  return found == lists_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::vector<std::int64_t>> TreeTable::told_by_neighbour(StreamId id) const {
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

std::optional<std::uint64_t> TreeTable::size_by_keylen(StreamId id, std::int64_t keylen) const {
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
  if (branch.entry_offset_len != 0) rest -= static_cast<std::int64_t>(kOffsetSize) * (disk_entries + 2 * disk_baskets);
  return rest < 0 ? Size() : Size(size + static_cast<std::uint64_t>(rest));
}

}  // namespace tfile
