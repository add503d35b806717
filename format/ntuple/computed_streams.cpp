// SPDX-License-Identifier: Apache-2.0
// Streams without pages of their own: steps, sizes, and arrays whose elements may lie in two pages.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "ntuple/field_nodes.h"
#include "ntuple/ntuple_streams.h"
#include "ntuple/page_table.h"

namespace tfile {

namespace {

// The ends of a fixed array's lists in one chunk: a megabyte, or more if there would be too many chunks.
constexpr std::int64_t kStepsInChunk = 1 << 17;
constexpr std::int64_t kStepChunksMax = 1 << 20;

}  // namespace

void NtupleTable::take_arrays_apart() {
  for (StreamId id = 0, count = static_cast<StreamId>(streams_.size()); id < count; ++id) {
    if (streams_[id].kind != Kind::numbers || streams_[id].per_item == 1) continue;
    bool is_aligned = true;
    pages_of(streams_[id]).each_count([&](std::uint32_t elements) {
      is_aligned &= elements % streams_[id].per_item == 0;
    });
    if (is_aligned) continue;
    FieldStream elements = streams_[id];
    elements.per_item = 1;
    streams_[id].kind = Kind::arrays;
    streams_[id].from = static_cast<StreamId>(streams_.size());
    streams_.push_back(elements);
  }
}

ItemRange NtupleTable::whole_elements(const FieldStream& stream, std::uint32_t index) const {
  const Page page = pages_of(stream).page(index);
  const auto per_item = static_cast<std::int64_t>(stream.per_item);
  const std::int64_t end = page.first_element + page.elements;
  return {page.first_element / per_item * per_item, end / per_item * per_item};
}

std::int64_t NtupleTable::step_count(const FieldStream& stream) const {
  if (stream.below.empty()) return entries;
  return stream.below[0] ? items(*stream.below[0], pages_.columns[stream.below[0]->column].elements()) : 0;
}

std::int64_t NtupleTable::steps_in_chunk(const FieldStream& stream) const {
  return std::max(kStepsInChunk, step_count(stream) / kStepChunksMax);
}

EntryRange NtupleTable::step_entries(const FieldStream& stream, std::uint32_t index) const {
  if (!stream.below.empty()) return {0, entries};
  const std::int64_t in_chunk = steps_in_chunk(stream), begin = std::min(index * in_chunk, entries);
  return {begin, std::min(begin + in_chunk, entries)};
}

Result<Chunk> NtupleTable::decode_steps(const FieldStream& stream, std::uint32_t index) const {
  const std::int64_t in_chunk = steps_in_chunk(stream), begin = index * in_chunk;
  const std::int64_t end = std::min(begin + in_chunk, step_count(stream));
  if (stream.told_by && is_lost(*stream.told_by, begin, end))
    return fail(ErrorKind::damaged,
                "items " + std::to_string(begin) + " to " + std::to_string(end) + " of its lists are in a lost page");
  const std::int64_t lead = index == 0 ? 1 : 0;
  Buffer ends(static_cast<std::size_t>(std::max<std::int64_t>(end - begin, 0) + lead) * sizeof(std::int64_t));
  auto* number = reinterpret_cast<std::int64_t*>(ends.data());
  if (lead) *number++ = 0;
  for (std::int64_t item = begin; item < end; ++item)
    *number++ = static_cast<std::int64_t>(static_cast<std::uint64_t>(item + 1) * stream.per_item);
  return chunk_of(std::move(ends));
}

Result<Chunk> NtupleTable::decode_sizes(const FieldStream& stream, std::uint32_t index,
                                        std::span<const std::shared_ptr<const Chunk>> inputs) const {
  if (inputs.empty()) return chunk_of(Buffer());
  // The first chunk begins with a 0.
  std::span<const std::int64_t> ends = ends_in(*inputs.back());
  if (index == 0) ends = ends.subspan(std::min<std::size_t>(ends.size(), 1));
  std::int64_t begin = first_item(streams_[stream.from].below[0], pages_of(stream).page(index).cluster);
  if (inputs.size() > 1 && !ends_in(*inputs.front()).empty()) begin = ends_in(*inputs.front()).back();
  const std::size_t size = size_of(stream.dtype);
  Buffer sizes(ends.size() * size);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::int64_t length = ends[i] - std::exchange(begin, ends[i]);
    std::memcpy(sizes.data() + i * size, &length, size);
  }
  return chunk_of(std::move(sizes));
}

Result<Chunk> NtupleTable::decode_arrays(const FieldStream& stream, std::uint32_t index,
                                         std::span<const std::shared_ptr<const Chunk>> inputs) const {
  if (inputs.empty()) return chunk_of(Buffer());
  const std::size_t size = size_of(stream.dtype);
  const ItemRange wanted = whole_elements(stream, index);
  Buffer whole(static_cast<std::size_t>(wanted.size()) * size);
  std::size_t at = 0;
  std::int64_t element = pages_of(stream).page(pages_of(stream).page_of(wanted.begin)).first_element;
  for (const auto& input : inputs) {
    const std::span<const std::byte> array = input->arrays.empty() ? std::span<const std::byte>() : input->arrays[0];
    const auto skip = static_cast<std::size_t>(std::max<std::int64_t>(wanted.begin - element, 0)) * size;
    const std::size_t take = std::min(array.size() - std::min(skip, array.size()), whole.size() - at);
    if (take > 0) std::memcpy(whole.data() + at, array.data() + skip, take);
    at += take;
    element += static_cast<std::int64_t>(array.size() / size);
  }
  if (at != whole.size())
    return fail(ErrorKind::damaged,
                "pages hold " + std::to_string(at / size) + " elements, expected " + std::to_string(wanted.size()));
  return chunk_of(std::move(whole));
}

}  // namespace tfile
