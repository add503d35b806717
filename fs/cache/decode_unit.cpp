// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <string>

#include "cache/load_unit.h"
#include "damage.h"

namespace tfilefs {
namespace {

using Inputs = std::vector<ChunkPtr>;

Result<ChunkPtr> count_items(const AttachedSet& set, LoadUnit& unit, const Inputs& inputs) {
  TRY(auto counted, set.streams->counter()->count(unit.key, unit.stored, inputs));
  unit.items = std::move(counted.items);
  if (counted.chunk) unit.memory.settle(chunk_memory(*counted.chunk));
  unit.unplaced = std::move(counted.chunk);
  return ChunkPtr();
}

// Each array of the chunk has the items that the extents promise.
Result<> check_sizes(const tfile::Chunk& chunk, std::uint32_t index, const Extents& extents) {
  if (chunk.arrays.size() != extents.first.size())
    return tfile::fail(ErrorKind::damaged, "chunk " + std::to_string(index) + " has " +
                                               std::to_string(chunk.arrays.size()) + " columns, its stream has " +
                                               std::to_string(extents.first.size()));
  for (std::size_t slot = 0; slot < chunk.arrays.size(); ++slot) {
    const auto items = static_cast<std::uint64_t>(extents.first[slot][index + 1] - extents.first[slot][index]);
    const std::size_t bytes = chunk.arrays[slot].size();
    if (items == 0 ? bytes != 0 : bytes % items != 0)
      return wrong_size(index, slot, bytes, std::to_string(items) + " items");
  }
  return {};
}

Result<ChunkPtr> decode_chunk(const AttachedSet& set, LoadUnit& unit, const Inputs& inputs) {
  const Extents& extents = *unit.extents;
  const std::uint32_t index = unit.key.index;
  if (index >= extents.chunks()) {
    if (extents.damage) return tl::unexpected<Error>(*extents.damage);
    return tfile::fail(ErrorKind::damaged,
                       "no chunk " + std::to_string(index) + ": the stream has " + std::to_string(extents.chunks()));
  }
  std::vector<std::int64_t> first;
  for (const auto& slot : extents.first) first.push_back(slot[index]);
  TRY(tfile::Chunk chunk, set.streams->decode(unit.key, unit.stored, inputs, first));
  TRY_VOID(check_sizes(chunk, index, extents));
  AtomicReadCounts& counts = set.counts->stream(unit.key.stream);
  counts.add(Count::chunks_decoded, 1);
  for (const auto array : chunk.arrays) counts.add(Count::bytes_decoded, array.size());
  unit.memory.settle(chunk_memory(chunk));
  return hold_chunk(std::move(chunk), std::move(unit.memory));
}

}  // namespace

Result<ChunkPtr> decode_unit(const AttachedSet& set, LoadUnits& units, LoadUnit& unit, const std::stop_token& stop) {
  Result<ChunkPtr> result;
  try {
    Inputs inputs;
    for (const std::uint32_t input : unit.inputs) {
      if (units[input].error && !unit.error) unit.error = units[input].error;
      inputs.push_back(units[input].chunk);
    }
    if (!unit.error && !unit.locator) unit.error = unit.locator.error();
    if (!unit.kept && stop.stop_requested()) unit.error = cancelled().value();
    if (unit.error)
      result = tl::unexpected<Error>(*unit.error);
    else
      result = unit.kept ? decode_chunk(set, unit, inputs) : count_items(set, unit, inputs);
  } catch (const std::bad_alloc&) {
    result = no_memory("no memory to decode a chunk");
  }
  unit.stored = {};
  unit.stored_owner.reset();
  return result;
}

}  // namespace tfilefs
