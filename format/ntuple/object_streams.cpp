// SPDX-License-Identifier: Apache-2.0
// Fields that streamers wrote: their objects are read cluster by cluster.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ntuple/description.h"
#include "ntuple/field_nodes.h"
#include "ntuple/ntuple_streams.h"
#include "ntuple/page_table.h"
#include "ntuple/streamed_objects.h"
#include "tfile/read_together.h"

namespace tfile {

namespace {

// The most that a page of a trial may take when it is decoded: ROOT's have a megabyte.
constexpr std::uint64_t kTrialPageMax = 32 << 20;

}  // namespace

Result<std::map<PageColumn, std::string>> NtupleTable::contradicted() const {
  std::vector<Trial> trials;
  for (const FieldStream& stream : streams_) {
    if (stream.kind == Kind::objects) add_trial(stream, trials);
  }
  std::vector<WantedBytes> wanted;
  for (const Trial& trial : trials) {
    for (const ChunkKey key : trial.pages) {
      const auto at = locate(key);
      // Pages of zeros are not stored.
      const bool is_stored = at && at->source != nullptr && at->range.size <= kTrialPageMax;
      wanted.push_back(is_stored ? WantedBytes{at->source, at->range} : WantedBytes{source_.get(), {}});
    }
  }
  const std::vector<Buffer> held = read_together(wanted);
  std::map<PageColumn, std::string> found;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    for (const WantedBytes& page : std::span(wanted).subspan(2 * i, 2)) {
      if (!page.bytes && is_of_storage(page.bytes.error())) return tl::unexpected<Error>(page.bytes.error());
    }
    if (!follows(trials[i], std::span<const WantedBytes, 2>(&wanted[2 * i], 2)))
      found.emplace(trials[i].stream->column,
                    "the bytes do not follow the description of class " + trials[i].stream->class_name);
  }
  return found;
}

void NtupleTable::add_trial(const FieldStream& stream, std::vector<Trial>& trials) const {
  for (std::uint32_t cluster = 0; cluster + 1 < clusters.size(); ++cluster) {
    std::vector<ChunkKey> ends, bytes;
    add_pages_of_cluster(stream.from, cluster, ends);
    add_pages_of_cluster(stream.bytes, cluster, bytes);
    if (ends.empty() || bytes.empty()) continue;
    if (decoded_size(ends[0]) > kTrialPageMax || decoded_size(bytes[0]) > kTrialPageMax) return;
    trials.push_back({&stream, cluster, {ends[0], bytes[0]}});
    return;
  }
}

bool NtupleTable::follows(const Trial& trial, std::span<const WantedBytes, 2> pages) const {
  if (!pages[0].bytes || !pages[1].bytes) return true;
  const std::vector<std::int64_t> zeros(2);
  const auto ends = decode(trial.pages[0], *pages[0].bytes, {}, zeros);
  const auto bytes = decode(trial.pages[1], *pages[1].bytes, {}, zeros);
  if (!ends || !bytes || bytes->arrays.empty()) return true;
  std::span<const std::int64_t> all = ends_in(*ends);
  if (trial.pages[0].index == 0) all = all.subspan(std::min<std::size_t>(all.size(), 1));
  const std::int64_t begin = elements_of_cluster(*trial.stream, trial.cluster).begin;
  const std::int64_t end = begin + static_cast<std::int64_t>(bytes->arrays[0].size());
  const auto whole = static_cast<std::size_t>(std::ranges::upper_bound(all, end) - all.begin());
  if (whole == 0) return true;
  const Program& program = programs_[trial.stream->program];
  const auto size = static_cast<std::size_t>(all[whole - 1] - begin);
  const std::span<const std::byte> objects = bytes->arrays[0].first(std::min(size, bytes->arrays[0].size()));
  const std::vector<std::int64_t> first(program.slots.size());
  return decode_objects(program, all.first(whole), begin, std::span(&objects, 1), first, nullptr).has_value();
}

StreamShape NtupleTable::shape_of_objects(const FieldStream& stream) const {
  StreamShape shape;
  shape.chunks = std::max<std::size_t>(clusters.size() - 1, 1);
  shape.slots = programs_[stream.program].slots.size();
  shape.items_from = ItemsFrom::payloads;
  shape.stored_bytes = pages_of(stream).stored_bytes() + pages_of(streams_[stream.from]).stored_bytes();
  return shape;
}

void NtupleTable::add_pages_of_cluster(StreamId id, std::uint32_t cluster, std::vector<ChunkKey>& keys) const {
  const ItemRange elements = elements_of_cluster(streams_[id], cluster);
  if (elements.size() <= 0) return;
  const auto begin = static_cast<std::uint32_t>(pages_of(streams_[id]).page_of(elements.begin));
  const auto end = static_cast<std::uint32_t>(pages_of(streams_[id]).page_of(elements.end - 1) + 1);
  for (std::uint32_t index = begin; index < end; ++index) keys.push_back({id, index});
}

std::uint64_t NtupleTable::size_of_objects(const FieldStream& stream, std::uint32_t cluster) const {
  constexpr std::uint64_t kGrowth = 4, kEachSlot = 16;
  const auto objects = static_cast<std::uint64_t>(elements_of_cluster(streams_[stream.from], cluster).size());
  const auto bytes = static_cast<std::uint64_t>(elements_of_cluster(stream, cluster).size());
  return kGrowth * bytes + (objects + 1) * kEachSlot * programs_[stream.program].slots.size();
}

Result<Chunk> NtupleTable::objects_of(const FieldStream& stream, std::uint32_t cluster,
                                      std::span<const std::shared_ptr<const Chunk>> inputs,
                                      std::span<const std::int64_t> first, std::vector<std::int64_t>* items) const {
  std::vector<ChunkKey> of_ends;
  add_pages_of_cluster(stream.from, cluster, of_ends);
  std::vector<std::int64_t> ends;
  std::vector<std::span<const std::byte>> pieces;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i >= of_ends.size()) {
      if (!inputs[i]->arrays.empty()) pieces.push_back(inputs[i]->arrays[0]);
      continue;
    }
    std::span<const std::int64_t> more = ends_in(*inputs[i]);
    if (of_ends[i].index == 0) more = more.subspan(std::min<std::size_t>(more.size(), 1));
    ends.insert(ends.end(), more.begin(), more.end());
  }
  const std::int64_t begin = elements_of_cluster(stream, cluster).begin;
  return decode_objects(programs_[stream.program], ends, begin, pieces, first, items);
}

Result<ItemCounter::Counted> NtupleTable::count_objects(const FieldStream& stream, std::uint32_t cluster,
                                                        std::span<const std::shared_ptr<const Chunk>> inputs) const {
  const std::vector<Slot>& slots = programs_[stream.program].slots;
  const bool is_first = cluster == 0;
  // Decodes as if the chunk began at item 0; but only the first chunk gets the leading 0 of ends.
  std::vector<std::int64_t> first;
  for (const Slot& slot : slots) first.push_back(slot.kind == Slot::Kind::ends && !is_first ? 1 : 0);
  Counted counted;
  TRY(counted.chunk, objects_of(stream, cluster, inputs, first, &counted.items));
  for (std::size_t slot = 0; is_first && slot < slots.size(); ++slot)
    counted.items[slot] += slots[slot].kind == Slot::Kind::ends ? 1 : 0;
  return counted;
}

}  // namespace tfile
