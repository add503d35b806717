// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "tfile/beyond_end.h"
#include "tfile/stored_chunk.h"

namespace tfile {
Result<std::span<const std::byte>> read_stored(const Locator& at, std::vector<std::byte>& into) {
  if (!at.source) return at.embedded;
  if (is_beyond_end(at.range, at.source->size())) return fail_beyond_end("", at.range, at.source->size());
  into.resize(at.range.size);
  TRY_VOID(read_range(*at.source, at.range, into));
  return std::span<const std::byte>(into);
}

Result<std::shared_ptr<const Chunk>> read_input(const StreamSet& set, ChunkKey key) {
  TRY(const Locator at, set.locate(key));
  std::vector<std::byte> bytes;
  TRY(const auto stored, read_stored(at, bytes));
  const std::vector<std::int64_t> first(set.slot_count(key.stream), 0);  // any value will do: only counts are used
  TRY(Chunk chunk, set.decode(key, stored, {}, first));
  return std::make_shared<const Chunk>(std::move(chunk));
}

namespace {

Result<std::vector<std::int64_t>> read_items(const StreamSet& set, ChunkKey key, ItemsFrom from) {
  const ItemCounter* counter = set.counter();
  if (!counter) return fail(ErrorKind::invalid, "its items are not counted by any column");
  TRY(const Locator at, from == ItemsFrom::headers ? counter->header_locator(key) : set.locate(key));
  std::vector<std::byte> bytes;
  TRY(const auto stored, read_stored(at, bytes));
  std::vector<std::shared_ptr<const Chunk>> inputs;
  for (const ChunkKey& input : set.inputs(key)) {
    TRY(auto chunk, read_input(set, input));
    inputs.push_back(std::move(chunk));
  }
  TRY(auto counted, counter->count(key, stored, inputs));
  return std::move(counted.items);
}

Result<Extents> read_extents(const StreamSet& set, StreamId stream) {
  const StreamShape shape = set.shape(stream);
  if (shape.items_from == ItemsFrom::metadata) return set.extents(stream);
  ExtentSum sum(shape.slots);
  for (std::uint32_t i = 0; i < shape.chunks && sum.is_open(); ++i) {
    const auto items = read_items(set, {stream, i}, shape.items_from);
    items ? sum.add(*items) : sum.stop(items.error());
  }
  return sum.take();
}

}  // namespace

Result<std::int64_t> count_items(const StreamSet& set, StreamId stream, std::uint32_t slot) {
  TRY(const Extents extents, read_extents(set, stream));
  if (extents.damage) return tl::unexpected<Error>(*extents.damage);
  if (slot >= extents.first.size())
    return fail(ErrorKind::damaged,
                "holds " + std::to_string(extents.first.size()) + " columns, expected column " + std::to_string(slot));
  return extents.length(slot);
}

}  // namespace tfile
