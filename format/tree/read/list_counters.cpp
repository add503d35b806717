// SPDX-License-Identifier: Apache-2.0
// Baskets without entry offsets: the items of their entries are counted by other streams.
#include <algorithm>
#include <string>
#include <vector>

#include "bytes/endian.h"
#include "tree/read/tree_streams.h"

namespace tfile {
namespace {

// The end of the entry before `entry`, from a chunk of ends.
Result<std::int64_t> end_before(const Chunk& chunk, EntryRange have, std::int64_t entry) {
  const auto array = chunk.arrays[0];
  const std::int64_t leading = static_cast<std::int64_t>(array.size() / sizeof(std::int64_t)) - have.size();
  const std::int64_t at = entry - 1 - have.begin + leading;
  if (at < 0 || static_cast<std::uint64_t>(at + 1) * sizeof(std::int64_t) > array.size())
    return fail(ErrorKind::damaged, "basket: its collection covers entries " + std::to_string(have.begin) + " to " +
                                        std::to_string(have.end) + ", without the end of entry " +
                                        std::to_string(entry - 1));
  return load_little<std::int64_t>(array.data() + static_cast<std::size_t>(at) * sizeof(std::int64_t));
}

std::int64_t count_at(const std::byte* p, Dtype dtype) {
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

}  // namespace

std::vector<ChunkKey> TreeTable::inputs(ChunkKey key) const {
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

Result<std::vector<std::int64_t>> TreeTable::missing_offsets(
    ChunkKey key, BasketData& data, std::span<const std::shared_ptr<const Chunk>> inputs) const {
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

Result<std::vector<std::int64_t>> TreeTable::entry_counts(ChunkKey key,
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

Result<std::vector<std::int64_t>> TreeTable::item_counts(ChunkKey key,
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

std::vector<ChunkKey> TreeTable::chunks_over(StreamId stream, EntryRange wanted) const {
  std::vector<ChunkKey> keys;
  if (!branch_of(stream).baskets.entry) return keys;
  const auto& boundaries = *branch_of(stream).baskets.entry;
  const auto at = std::upper_bound(boundaries.begin(), boundaries.end(), wanted.begin);
  auto index = static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(at - boundaries.begin() - 1, 0));
  for (; index + 1 < boundaries.size() && boundaries[index] < wanted.end; ++index) keys.push_back({stream, index});
  return keys;
}

}  // namespace tfile
