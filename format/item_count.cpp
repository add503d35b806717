// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "tfile/stored_chunk.h"

namespace tfile {
Result<std::span<const std::byte>> read_stored(const Locator& at, std::vector<std::byte>& into) {
  if (!at.source) return at.embedded;
  if (at.range.begin > at.source->size() || at.range.size > at.source->size() - at.range.begin)
    return fail(ErrorKind::damaged, "lies beyond the end of the file");
  into.resize(at.range.size);
  TRY_VOID(read_range(*at.source, at.range, into));
  return std::span<const std::byte>(into);
}

Result<std::shared_ptr<const Chunk>> read_input(const StreamSet& set, ChunkKey key) {
  TRY(const Locator at, set.locate(key));
  std::vector<std::byte> bytes;
  TRY(const auto stored, read_stored(at, bytes));
  const std::vector<std::int64_t> first(set.slot_count(key.stream), 0);  // no matter for counts
  TRY(Chunk chunk, set.decode(key, stored, {}, first));
  return std::make_shared<const Chunk>(std::move(chunk));
}

namespace {

Result<std::vector<std::int64_t>> read_items(const StreamSet& set, ChunkKey key) {
  const ItemsFrom from = set.items_from(key.stream);
  if (from == ItemsFrom::metadata) return set.items(key, {}, {});
  TRY(const Locator at, from == ItemsFrom::headers ? set.header_locator(key) : set.locate(key));
  std::vector<std::byte> bytes;
  TRY(const auto stored, read_stored(at, bytes));
  std::vector<std::shared_ptr<const Chunk>> inputs;
  for (const ChunkKey& input : set.inputs(key)) {
    TRY(auto chunk, read_input(set, input));
    inputs.push_back(std::move(chunk));
  }
  return set.items(key, stored, inputs);
}

}  // namespace

Result<std::int64_t> count_items(const StreamSet& set, StreamId stream, std::uint32_t slot) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < set.chunk_count(stream); ++i) {
    TRY(const auto items, read_items(set, {stream, static_cast<std::uint32_t>(i)}));
    if (slot >= items.size() || items[slot] < 0) return fail(ErrorKind::damaged, "holds no such column");
    sum += items[slot];
  }
  return sum;
}

}  // namespace tfile
