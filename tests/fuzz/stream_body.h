// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "tfile/source.h"
#include "tfile/stream_set.h"
#include "tfile/table.h"

namespace tfile::fuzz {

// Limits for one input: a slow fuzzer finds nothing.
inline constexpr std::size_t kStreamsMax = 200;
inline constexpr std::size_t kChunksMax = 20;
inline constexpr std::uint64_t kChunkSizeMax = 8 << 20;

inline void require(bool truth, const char* what) {
  if (truth) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

using Stored = std::vector<std::byte>;
using ChunkPointer = std::shared_ptr<const Chunk>;

inline std::optional<Stored> fetch(const Result<Locator>& locator) {
  if (!locator) return std::nullopt;
  if (locator->source == nullptr) return Stored(locator->embedded.begin(), locator->embedded.end());
  if (locator->range.size > kChunkSizeMax) return std::nullopt;
  Stored stored(locator->range.size);
  if (!read_range(*locator->source, locator->range, stored)) return std::nullopt;
  return stored;
}

// The size of one item of each slot; 0 if no column gives it.
using ItemSizes = std::vector<std::size_t>;

// Does to one stream what the cache does: counts the items of each chunk, then decodes it. Checks the library's
// promises: equal counts in both, each array has the size of its items, offsets never decrease.
class StreamWalk {
 public:
  StreamWalk(const StreamSet& set, StreamId stream, ItemSizes sizes, std::vector<bool> offsets)
      : set_(set), stream_(stream), sizes_(std::move(sizes)), is_offsets_(std::move(offsets)) {}

  void run() {
    const std::size_t count = std::min(set_.chunk_count(stream_), kChunksMax);
    ask_lengths();
    std::vector<std::int64_t> first(set_.slot_count(stream_), 0);
    for (std::size_t i = 0; i < count; ++i) {
      const ChunkKey key{stream_, static_cast<std::uint32_t>(i)};
      set_.chunk_entries(key);
      if (set_.decoded_size(key) > kChunkSizeMax) return;
      std::vector<ChunkPointer> inputs;
      for (const ChunkKey& input : set_.inputs(key)) {
        const ChunkPointer chunk = decode_input(input);
        if (!chunk) return;
        inputs.push_back(chunk);
      }
      const std::optional<Stored> stored = fetch(set_.locate(key));
      if (!stored) return;
      const auto items = items_of(key, *stored, inputs);
      const auto chunk = set_.decode(key, *stored, inputs, first);
      if (!items || !chunk) return;
      check(*chunk, *items);
      for (std::size_t slot = 0; slot < first.size(); ++slot) first[slot] += (*items)[slot];
    }
  }

 private:
  void ask_lengths() {
    require(set_.lengths(stream_).size() == set_.slot_count(stream_), "a length for each slot");
    const ItemCounter* counter = set_.counter();
    if (!counter || set_.shape(stream_).items_from != ItemsFrom::headers || set_.chunk_count(stream_) == 0) return;
    const auto header = fetch(counter->header_locator({stream_, 0}));
    if (!header) return;
    const std::vector<std::int64_t> counted(set_.slot_count(stream_), 1);
    counter->note_counted(stream_, counted, *header);
    for (const StreamId told : counter->telling_streams()) require(told < set_.stream_count(), "streams tell lengths");
    require(set_.lengths(stream_).size() == set_.slot_count(stream_), "a length for each slot");
  }

  std::optional<std::vector<std::int64_t>> items_of(ChunkKey key, const Stored& stored,
                                                    const std::vector<ChunkPointer>& inputs) {
    const ItemsFrom from = set_.shape(stream_).items_from;
    if (from == ItemsFrom::metadata) return told_items(key.index);
    std::optional<Stored> header;
    if (from == ItemsFrom::headers && !(header = fetch(set_.counter()->header_locator(key)))) return std::nullopt;
    auto counted = set_.counter()->count(key, header ? *header : stored, inputs);
    if (!counted) return std::nullopt;
    require(counted->items.size() == set_.slot_count(stream_), "items of each slot");
    for (const std::int64_t count : counted->items) require(count >= 0, "items are not negative");
    return std::move(counted->items);
  }

  std::optional<std::vector<std::int64_t>> told_items(std::uint32_t index) const {
    const auto extents = set_.extents(stream_);
    require(extents.has_value(), "metadata tells the items");
    require(extents->damage || extents->chunks() == set_.chunk_count(stream_), "extents of each chunk");
    if (index >= extents->chunks()) return std::nullopt;
    return extents->items_of(index);
  }

  ChunkPointer decode_input(ChunkKey key) {
    if (set_.decoded_size(key) > kChunkSizeMax) return nullptr;
    const std::optional<Stored> stored = fetch(set_.locate(key));
    if (!stored) return nullptr;
    require(set_.inputs(key).empty(), "inputs need no inputs");
    // The beginning of the chunk does not matter for its counts.
    const std::vector<std::int64_t> first(set_.slot_count(key.stream), 0);
    auto chunk = set_.decode(key, *stored, {}, first);
    return chunk ? std::make_shared<const Chunk>(*std::move(chunk)) : nullptr;
  }

  void check(const Chunk& chunk, const std::vector<std::int64_t>& items) const {
    require(chunk.arrays.size() == items.size(), "an array for each slot");
    for (std::size_t slot = 0; slot < items.size(); ++slot) {
      if (slot >= sizes_.size() || sizes_[slot] == 0) continue;
      require(chunk.arrays[slot].size() == static_cast<std::size_t>(items[slot]) * sizes_[slot],
              "an array has the size of its items");
      if (is_offsets_[slot]) check_offsets(chunk.arrays[slot]);
    }
  }
  static void check_offsets(std::span<const std::byte> array) {
    std::int64_t before = 0;
    for (std::size_t at = 0; at + sizeof before <= array.size(); at += sizeof before) {
      std::int64_t offset;
      std::memcpy(&offset, array.data() + at, sizeof offset);
      require(offset >= before, "offsets never fall");
      before = offset;
    }
  }

  const StreamSet& set_;
  const StreamId stream_;
  const ItemSizes sizes_;
  const std::vector<bool> is_offsets_;
};

inline void walk_table(const Table& table) {
  require(!table.nodes.empty(), "a table has a directory");
  std::set<StreamId> streams;
  for (const Column& column : table.columns) {
    if (streams.size() >= kStreamsMax) break;
    streams.insert(column.stream);
  }
  for (const Node& node : table.nodes) {
    for (const NodeId child : node.children) require(child < table.nodes.size(), "children are nodes");
    if (node.column) require(*node.column < table.columns.size(), "leaves are columns");
  }
  for (const StreamId stream : streams) {
    ItemSizes sizes(table.slot_count(stream), 0);
    std::vector<bool> offsets(sizes.size(), false);
    for (const Column& column : table.columns) {
      if (column.stream != stream) continue;
      require(column.slot < sizes.size(), "a column has a slot of its stream");
      sizes[column.slot] = column.item_size();
      offsets[column.slot] = column.role == Role::offsets;
    }
    StreamWalk(table, stream, std::move(sizes), std::move(offsets)).run();
  }
}

}  // namespace tfile::fuzz
