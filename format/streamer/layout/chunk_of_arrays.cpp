// SPDX-License-Identifier: Apache-2.0
#include "streamer/layout/chunk_of_arrays.h"

#include <cstring>

#include "bytes/boolean.h"
#include "bytes/swap.h"

namespace tfile {
namespace {

// Arrays begin at multiples of this: enough for all types of numbers, and for vector instructions.
constexpr std::size_t kAlignment = 16;

// Makes positions in alternatives absolute.
void place_index(std::span<std::byte> index, std::span<const std::byte> tags, std::span<const std::int64_t> first,
                 std::size_t slot) {
  auto* positions = reinterpret_cast<std::int64_t*>(index.data());
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (const auto tag = static_cast<std::size_t>(tags[i])) positions[i] += first[slot + tag];
  }
}

void place_ends(std::span<std::byte> ends, std::int64_t base) {
  auto* const numbers = reinterpret_cast<std::int64_t*>(ends.data());
  for (std::size_t i = 0; i < ends.size() / sizeof(std::int64_t); ++i) numbers[i] += base;
}

// Only the chunk that begins a column of ends has a leading 0.
bool has_leading_zero(const Slot& slot, std::int64_t first) { return slot.kind == Slot::Kind::ends && first == 0; }

std::size_t finished_size(const Slot& slot, const ArrayBuilder& array, std::int64_t first) {
  if (slot.is_unseen) return 0;
  return array.size() + (has_leading_zero(slot, first) ? sizeof(std::int64_t) : 0);
}

// `to`: the place of the finished array, of its final size. `before`: the finished arrays of the slots before.
void finish(std::span<const std::byte> from, std::span<std::byte> to, const Program& program, std::size_t slot,
            std::span<const std::span<const std::byte>> before, std::span<const std::int64_t> first) {
  const Slot& description = program.slots[slot];
  if (to.empty()) return;
  if (description.kind == Slot::Kind::big_endian) return swap_items(from, to.data(), description.number_size);
  const std::size_t lead = to.size() - from.size();
  std::memset(to.data(), 0, lead);
  if (!from.empty()) std::memcpy(to.data() + lead, from.data(), from.size());
  if (description.kind == Slot::Kind::boolean) normalize_booleans(to);
  if (description.kind == Slot::Kind::index) place_index(to, before[slot - 1], first, slot);
  if (description.kind == Slot::Kind::ends && first[slot + 1] != 0) place_ends(to.subspan(lead), first[slot + 1]);
}

}  // namespace

Chunk chunk_of_arrays(const Program& program, std::span<const ArrayBuilder> arrays,
                      std::span<const std::int64_t> first) {
  std::size_t total = 0;
  for (std::size_t slot = 0; slot < program.slots.size(); ++slot)
    total += (finished_size(program.slots[slot], arrays[slot], first[slot]) + kAlignment - 1) / kAlignment * kAlignment;
  Chunk chunk;
  Buffer& all = chunk.owned.emplace_back(std::max(total, kAlignment));
  std::size_t at = 0;
  for (std::size_t slot = 0; slot < program.slots.size(); ++slot) {
    const std::size_t size = finished_size(program.slots[slot], arrays[slot], first[slot]);
    const auto to = all.span().subspan(at, size);
    finish({arrays[slot].data(), arrays[slot].size()}, to, program, slot, chunk.arrays, first);
    chunk.arrays.push_back(to);
    at += (size + kAlignment - 1) / kAlignment * kAlignment;
  }
  return chunk;
}

void place_chunk(const Program& program, std::span<const std::int64_t> first, Chunk& chunk) {
  std::byte* const all = chunk.owned[0].data();
  for (std::size_t slot = 0; slot < program.slots.size(); ++slot) {
    const auto array = chunk.arrays[slot];
    if (array.empty()) continue;
    const std::span<std::byte> own(all + (array.data() - all), array.size());
    if (program.slots[slot].kind == Slot::Kind::index) place_index(own, chunk.arrays[slot - 1], first, slot);
    if (program.slots[slot].kind == Slot::Kind::ends) place_ends(own, first[slot + 1]);
  }
}

}  // namespace tfile
