// SPDX-License-Identifier: Apache-2.0
#include "ntuple/ntuple_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bytes/endian.h"
#include "compression/codec.h"
#include "compression/frame.h"
#include "model/heap.h"
#include "ntuple/blob_source.h"
#include "ntuple/description.h"
#include "ntuple/field_nodes.h"
#include "ntuple/page_decode.h"
#include "ntuple/page_lists.h"
#include "ntuple/page_table.h"
#include "ntuple/streamed_objects.h"
#include "streamer/layout/chunk_of_arrays.h"
#include "tfile/read_together.h"

namespace tfile {
namespace {

// The ends of a fixed array's lists in one chunk: a megabyte, or more if there would be too many chunks.
constexpr std::int64_t kStepsInChunk = 1 << 17;
constexpr std::int64_t kStepChunksMax = 1 << 20;

// The most that a page of a trial may take when it is decoded: ROOT's have a megabyte.
constexpr std::uint64_t kTrialPageMax = 32 << 20;

using Kind = FieldStream::Kind;

std::span<const std::int64_t> ends_in(const Chunk& chunk) {
  const std::span<const std::byte> bytes = chunk.arrays.empty() ? std::span<const std::byte>() : chunk.arrays[0];
  return {reinterpret_cast<const std::int64_t*>(bytes.data()), bytes.size() / sizeof(std::int64_t)};
}

Chunk chunk_of(Buffer buffer) {
  Chunk chunk;
  chunk.arrays.emplace_back(chunk.owned.emplace_back(std::move(buffer)).span());
  return chunk;
}

class NtupleTable final : public Table, public ItemCounter {
 public:
  NtupleTable(std::shared_ptr<const Source> source, std::uint64_t max_key_size, FieldNodes made, PageTable pages)
      : source_(std::move(source)),
        max_key_size_(max_key_size),
        streams_(std::move(made.streams)),
        programs_(std::move(made.programs)),
        encodings_(std::move(made.encodings)),
        per_entry_(std::move(made.per_entry)),
        pages_(std::move(pages)) {
    kind = "rntuple";
    nodes = std::move(made.nodes);
    columns = std::move(made.columns);
    clusters = pages_.cluster_ends;
    entries = clusters.back();
    warnings = std::move(made.warnings);
    warnings.insert(warnings.end(), pages_.warnings.begin(), pages_.warnings.end());
    take_arrays_apart();
    for (const ColumnPages& column : pages_.columns) add_pages_in_parts(column);
    for (Column& column : columns)
      column.compression = compression_text(static_cast<std::int32_t>(compression_of(column.stream)));
  }

  std::size_t memory() const override {
    return heap_of_elements(nodes) + heap_of_elements(columns) + heap_of_elements(streams_) + pages_.memory();
  }

  std::size_t stream_count() const override { return streams_.size(); }

  StreamShape shape(StreamId id) const override {
    const FieldStream& stream = streams_[id];
    StreamShape shape;
    if (stream.kind == Kind::objects) return shape_of_objects(stream);
    shape.chunks = std::max<std::size_t>(chunk_count_of(stream), 1);
    shape.slots = stream.kind == Kind::variant || has_uncounted_items(stream) ? 2 : 1;
    shape.items_from = has_uncounted_items(stream) ? ItemsFrom::payloads : ItemsFrom::metadata;
    if (stream.kind != Kind::steps) shape.stored_bytes = pages_of(stream).stored_bytes();
    return shape;
  }

  EntryRange chunk_entries(ChunkKey key) const override {
    const FieldStream& stream = streams_[key.stream];
    if (stream.kind == Kind::steps) return step_entries(stream, key.index);
    if (stream.kind == Kind::objects && key.index + 1 >= clusters.size()) return {};  // without entries
    if (stream.kind == Kind::objects) return {clusters[key.index], clusters[key.index + 1]};
    if (key.index >= pages_of(stream).size()) return {};
    const Page page = pages_of(stream).page(key.index);
    const auto per_entry = static_cast<std::int64_t>(per_entry_[stream.column]);
    if (per_entry == 0) return {clusters[page.cluster], clusters[page.cluster + 1]};
    const std::int64_t end = page.first_element + page.elements;
    return {page.first_element / per_entry, (end + per_entry - 1) / per_entry};
  }

  Result<Locator> locate(ChunkKey key) const override {
    const FieldStream& stream = streams_[key.stream];
    Locator locator;
    if (!reads_pages(stream) || key.index >= pages_of(stream).size()) return locator;
    const Page page = pages_of(stream).page(key.index);
    if (page.kind == Page::Kind::zeros) return locator;
    if (page.kind == Page::Kind::lost)
      return fail(ErrorKind::damaged, "page " + std::to_string(key.index) + " was lost");
    locator.range = page.range;
    if (page.has_checksum) locator.range.size += kChecksumSize;
    const bool in_parts = is_in_parts(locator.range.size, max_key_size_);
    locator.source = in_parts ? pages_in_parts_.at(locator.range.begin).get() : source_.get();
    return locator;
  }

  std::uint64_t decoded_size(ChunkKey key) const override {
    const FieldStream& stream = streams_[key.stream];
    if (stream.kind == Kind::objects) return size_of_objects(stream, key.index);
    const std::uint64_t size = stream.kind == Kind::variant ? 9 : size_of(dtype_of(stream));
    if (stream.kind == Kind::steps) return size * (static_cast<std::uint64_t>(steps_in_chunk(stream)) + 1);
    if (key.index >= pages_of(stream).size()) return size;
    const Page page = pages_of(stream).page(key.index);
    const std::uint64_t unpacked = page_size(encoding_of(stream, page), page.elements);
    return size * (page.elements + stream.per_item) + unpacked;
  }

  std::vector<ChunkKey> inputs(ChunkKey key) const override {
    const FieldStream& stream = streams_[key.stream];
    std::vector<ChunkKey> keys;
    if (stream.kind == Kind::objects) {
      add_pages_of_cluster(stream.from, key.index, keys);
      add_pages_of_cluster(stream.bytes, key.index, keys);
      return keys;
    }
    if (key.index >= pages_of(stream).size()) return keys;
    if (stream.kind == Kind::sizes) {
      if (const auto before = page_before(stream, key.index)) keys.push_back({stream.from, *before});
      keys.push_back({stream.from, key.index});
    } else if (stream.kind == Kind::arrays) {
      const ItemRange elements = whole_elements(stream, key.index);
      if (elements.size() == 0) return keys;
      const auto first = static_cast<std::uint32_t>(pages_of(stream).page_of(elements.begin));
      for (std::uint32_t index = first; index <= key.index; ++index) keys.push_back({stream.from, index});
    }
    return keys;
  }

  std::vector<std::int64_t> lengths(StreamId id) const override {
    const FieldStream& stream = streams_[id];
    if (stream.kind == Kind::objects) return std::vector<std::int64_t>(programs_[stream.program].slots.size(), -1);
    if (has_uncounted_items(stream)) return {pages_of(stream).elements() + 1, -1};
    if (stream.kind == Kind::steps) return {step_count(stream) + 1};
    const std::int64_t elements = pages_of(stream).elements();
    if (stream.kind == Kind::variant) return {elements, elements};
    if (stream.kind == Kind::ends) return {elements + 1};
    return {elements / static_cast<std::int64_t>(stream.per_item)};
  }

  Result<Extents> extents(StreamId id) const override {
    const FieldStream& stream = streams_[id];
    if (has_uncounted_items(stream) || stream.kind == Kind::objects)
      return fail(ErrorKind::invalid, "extents are known only after reading the pages");
    const std::size_t slots = shape(id).slots, chunks = shape(id).chunks;
    ExtentSum sum(slots);
    std::int64_t element = 0;
    std::size_t index = 0;
    const auto add = [&](std::int64_t elements) {
      const auto per_item = stream.kind == Kind::steps ? 1 : static_cast<std::int64_t>(stream.per_item);
      std::int64_t items = (element + elements) / per_item - element / per_item;
      element += elements;
      const bool has_lead = stream.kind == Kind::ends || stream.kind == Kind::steps;
      if (has_lead && index == 0) ++items;
      ++index;
      sum.add(std::vector<std::int64_t>(slots, items));
    };
    if (stream.kind == Kind::steps) {
      const std::int64_t in_chunk = steps_in_chunk(stream);
      for (std::int64_t left = step_count(stream); left > 0; left -= in_chunk) add(std::min(left, in_chunk));
    } else {
      pages_of(stream).each_count([&](std::uint32_t elements) { add(elements); });
    }
    while (index < chunks) add(0);
    return sum.take();
  }

  const ItemCounter* counter() const override { return this; }

  // For lists of items that have no columns: the last end of each cluster counts its items.
  Result<Counted> count(ChunkKey key, std::span<const std::byte> bytes,
                        std::span<const std::shared_ptr<const Chunk>> inputs) const override {
    const FieldStream& stream = streams_[key.stream];
    if (stream.kind == Kind::objects) return count_objects(stream, key.index, inputs);
    TRY(const Chunk chunk, decode(key, bytes, {}, std::vector<std::int64_t>(2, 0)));
    const std::span<const std::int64_t> ends = ends_in(chunk);
    Counted counted;
    counted.items = {static_cast<std::int64_t>(ends.size()), 0};
    const ColumnPages& pages = pages_of(stream);
    const bool is_last =
        key.index + 1 >= pages.size() || pages.page(key.index + 1).cluster != pages.page(key.index).cluster;
    if (is_last && !ends.empty()) counted.items[1] = ends.back();
    return counted;
  }

  void place(ChunkKey key, Chunk& chunk, std::span<const std::int64_t> first) const override {
    const FieldStream& stream = streams_[key.stream];
    if (stream.kind == Kind::objects) place_chunk(programs_[stream.program], first, chunk);
  }

  Result<Chunk> decode(ChunkKey key, std::span<const std::byte> stored,
                       std::span<const std::shared_ptr<const Chunk>> inputs,
                       std::span<const std::int64_t> first) const override {
    const FieldStream& stream = streams_[key.stream];
    if (stream.kind == Kind::steps) return decode_steps(stream, key.index);
    if (stream.kind == Kind::sizes) return decode_sizes(stream, key.index, inputs);
    if (stream.kind == Kind::arrays) return decode_arrays(stream, key.index, inputs);
    if (stream.kind == Kind::objects) return objects_of(stream, key.index, inputs, first, nullptr);
    auto chunk = decode_page(stream, key.index, stored, first);
    if (chunk || key.index >= pages_of(stream).size()) return chunk;
    return fail(chunk.error().kind, "page " + std::to_string(key.index) + ": " + chunk.error().text,
                static_cast<std::int64_t>(pages_of(stream).page(key.index).range.begin));
  }

  // Streamer fields whose first objects are not what the descriptions of their classes say, as their streamers were
  // written by hand: the columns of their bytes, with the reason. Errors: io, ... (of the source). Blocks.
  Result<std::map<PageColumn, std::string>> contradicted() const {
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

 private:
  // The first pages of a streamer field in its first cluster with objects: of their ends, and of their bytes.
  struct Trial {
    const FieldStream* stream = nullptr;
    std::uint32_t cluster = 0;
    std::array<ChunkKey, 2> pages;
  };
  void add_trial(const FieldStream& stream, std::vector<Trial>& trials) const {
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

  // Whether the objects that lie in these pages are read to their last byte. Damage says nothing about that.
  bool follows(const Trial& trial, std::span<const WantedBytes, 2> pages) const {
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

  const ColumnPages& pages_of(const FieldStream& stream) const { return pages_.columns[stream.column]; }
  static bool reads_pages(const FieldStream& stream) {
    return stream.kind == Kind::numbers || stream.kind == Kind::ends || stream.kind == Kind::variant;
  }
  static bool has_uncounted_items(const FieldStream& stream) { return stream.kind == Kind::ends && !stream.below[0]; }
  static Dtype dtype_of(const FieldStream& stream) {
    return stream.kind == Kind::ends || stream.kind == Kind::steps ? Dtype::i8 : stream.dtype;
  }
  std::uint32_t compression_of(StreamId id) const {
    return streams_[id].kind == Kind::steps ? 0 : pages_.compression[streams_[id].column];
  }
  const PageEncoding& encoding_of(const FieldStream& stream, const Page& page) const {
    const auto& encodings = encodings_[stream.column].by_representation;
    return encodings[std::min<std::size_t>(page.representation, encodings.size() - 1)];
  }

  std::size_t chunk_count_of(const FieldStream& stream) const {
    if (stream.kind != Kind::steps) return pages_of(stream).size();
    const std::int64_t in_chunk = steps_in_chunk(stream);
    return static_cast<std::size_t>((step_count(stream) + in_chunk - 1) / in_chunk);
  }

  void add_pages_in_parts(const ColumnPages& column) {
    if (!is_in_parts(column.largest_page() + kChecksumSize, max_key_size_)) return;
    for (std::size_t index = 0; index < column.size(); ++index) {
      const Page page = column.page(index);
      if (page.kind == Page::Kind::stored && is_in_parts(page.range.size + kChecksumSize, max_key_size_))
        pages_in_parts_.try_emplace(page.range.begin, source_of_blobs(source_, max_key_size_));
    }
  }

  StreamShape shape_of_objects(const FieldStream& stream) const {
    StreamShape shape;
    shape.chunks = std::max<std::size_t>(clusters.size() - 1, 1);
    shape.slots = programs_[stream.program].slots.size();
    shape.items_from = ItemsFrom::payloads;
    shape.stored_bytes = pages_of(stream).stored_bytes() + pages_of(streams_[stream.from]).stored_bytes();
    return shape;
  }

  // The elements of the stream's column in a cluster.
  ItemRange elements_of_cluster(const FieldStream& stream, std::uint32_t cluster) const {
    return {pages_of(stream).first_of_cluster(cluster), pages_of(stream).first_of_cluster(cluster + 1)};
  }
  void add_pages_of_cluster(StreamId id, std::uint32_t cluster, std::vector<ChunkKey>& keys) const {
    const ItemRange elements = elements_of_cluster(streams_[id], cluster);
    if (elements.size() <= 0) return;
    const auto begin = static_cast<std::uint32_t>(pages_of(streams_[id]).page_of(elements.begin));
    const auto end = static_cast<std::uint32_t>(pages_of(streams_[id]).page_of(elements.end - 1) + 1);
    for (std::uint32_t index = begin; index < end; ++index) keys.push_back({id, index});
  }

  // Arrays are rarely much larger than the streamed bytes, except for ends of short lists.
  std::uint64_t size_of_objects(const FieldStream& stream, std::uint32_t cluster) const {
    constexpr std::uint64_t kGrowth = 4, kEachSlot = 16;
    const auto objects = static_cast<std::uint64_t>(elements_of_cluster(streams_[stream.from], cluster).size());
    const auto bytes = static_cast<std::uint64_t>(elements_of_cluster(stream, cluster).size());
    return kGrowth * bytes + (objects + 1) * kEachSlot * programs_[stream.program].slots.size();
  }

  Result<Chunk> objects_of(const FieldStream& stream, std::uint32_t cluster,
                           std::span<const std::shared_ptr<const Chunk>> inputs, std::span<const std::int64_t> first,
                           std::vector<std::int64_t>* items) const {
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

  Result<Counted> count_objects(const FieldStream& stream, std::uint32_t cluster,
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

  // A page may end inside a fixed array. The elements of such a column get a stream of their own, and the arrays are
  // assembled from its chunks.
  void take_arrays_apart() {
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

  // The page with the end of the list before those of page `index`. None is needed if the lists of this page begin a
  // cluster, since their items begin there, too, unless these have no columns that count them.
  std::optional<std::uint32_t> page_before(const FieldStream& stream, std::uint32_t index) const {
    const ColumnPages& pages = pages_of(stream);
    const Page own = pages.page(index);
    for (std::uint32_t before = index; own.elements > 0 && before-- > 0;) {
      const Page page = pages.page(before);
      if (page.cluster != own.cluster && !has_uncounted_items(streams_[stream.from])) break;
      if (page.elements > 0) return before;
    }
    return std::nullopt;
  }

  // The elements of the arrays that end in a page.
  ItemRange whole_elements(const FieldStream& stream, std::uint32_t index) const {
    const Page page = pages_of(stream).page(index);
    const auto per_item = static_cast<std::int64_t>(stream.per_item);
    const std::int64_t end = page.first_element + page.elements;
    return {page.first_element / per_item * per_item, end / per_item * per_item};
  }

  // Converts a number of elements of the counting column to items.
  std::int64_t items(const ItemCount& count, std::int64_t elements) const {
    return elements / static_cast<std::int64_t>(count.per_item);
  }
  std::int64_t first_item(const std::optional<ItemCount>& count, std::uint32_t cluster) const {
    return count ? items(*count, pages_.columns[count->column].first_of_cluster(cluster)) : 0;
  }

  std::int64_t step_count(const FieldStream& stream) const {
    if (stream.below.empty()) return entries;
    return stream.below[0] ? items(*stream.below[0], pages_.columns[stream.below[0]->column].elements()) : 0;
  }
  std::int64_t steps_in_chunk(const FieldStream& stream) const {
    return std::max(kStepsInChunk, step_count(stream) / kStepChunksMax);
  }
  EntryRange step_entries(const FieldStream& stream, std::uint32_t index) const {
    if (!stream.below.empty()) return {0, entries};
    const std::int64_t in_chunk = steps_in_chunk(stream), begin = std::min(index * in_chunk, entries);
    return {begin, std::min(begin + in_chunk, entries)};
  }

  // Whether all these items are in one lost page. The lists could still be computed, but a file that claims more
  // entries than it has could make them endless.
  bool is_lost(const ItemCount& count, std::int64_t begin, std::int64_t end) const {
    const ColumnPages& pages = pages_.columns[count.column];
    const auto per_item = static_cast<std::int64_t>(count.per_item);
    if (begin >= end || pages.size() == 0 || begin >= pages.elements() / per_item) return false;
    const Page page = pages.page(pages.page_of(begin * per_item));
    return page.kind == Page::Kind::lost && end * per_item <= page.first_element + page.elements;
  }

  Result<Chunk> decode_steps(const FieldStream& stream, std::uint32_t index) const {
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

  Result<Chunk> decode_sizes(const FieldStream& stream, std::uint32_t index,
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

  Result<Chunk> decode_arrays(const FieldStream& stream, std::uint32_t index,
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

  // The bytes of a page in the form of its encoding. `stored` includes the checksum, if there is one.
  Result<Buffer> unpacked(const FieldStream& stream, const Page& page, std::span<const std::byte> stored) const {
    if (page.has_checksum) {
      if (stored.size() < kChecksumSize)
        return fail(ErrorKind::damaged, "page of " + std::to_string(stored.size()) + " bytes has no checksum");
      const std::span<const std::byte> bytes = stored.first(stored.size() - kChecksumSize);
      TRY_VOID(check_checksum("the page", bytes, load_little<std::uint64_t>(stored.data() + bytes.size())));
      stored = bytes;
    }
    return decompress(stored, page_size(encoding_of(stream, page), page.elements));
  }

  Result<Chunk> decode_page(const FieldStream& stream, std::uint32_t index, std::span<const std::byte> stored,
                            std::span<const std::int64_t> first) const {
    const bool is_there = index < pages_of(stream).size();
    Page page;
    page.kind = Page::Kind::zeros;
    if (is_there) page = pages_of(stream).page(index);
    Buffer bytes;
    if (page.kind == Page::Kind::stored) {
      TRY(bytes, unpacked(stream, page, stored));
    } else {
      bytes = Buffer(page_size(encoding_of(stream, page), page.elements));
      std::memset(bytes.data(), 0, bytes.size());
    }
    switch (stream.kind) {
      case Kind::ends:
        return decode_ends_page(stream, page, index, bytes.span(), first);
      case Kind::variant:
        return decode_variant_page(stream, page, bytes.span());
      default:
        break;
    }
    const PageEncoding& encoding = encoding_of(stream, page);
    if (is_plain(encoding, stream.dtype)) return chunk_of(std::move(bytes));
    Buffer numbers(page.elements * size_of(stream.dtype));
    TRY_VOID(decode_numbers(encoding, bytes.span(), page.elements, stream.dtype, numbers.span()));
    return chunk_of(std::move(numbers));
  }

  Result<Chunk> decode_ends_page(const FieldStream& stream, const Page& page, std::uint32_t index,
                                 std::span<const std::byte> bytes, std::span<const std::int64_t> first) const {
    const std::size_t lead = index == 0 ? sizeof(std::int64_t) : 0;
    Buffer ends(lead + page.elements * sizeof(std::int64_t));
    std::memset(ends.data(), 0, lead);
    const std::int64_t base = has_uncounted_items(stream) ? first[1] : first_item(stream.below[0], page.cluster);
    TRY_VOID(decode_ends(encoding_of(stream, page), bytes, page.elements, base, ends.span().subspan(lead)));
    Chunk chunk = chunk_of(std::move(ends));
    if (has_uncounted_items(stream)) chunk.arrays.emplace_back();
    return chunk;
  }

  Result<Chunk> decode_variant_page(const FieldStream& stream, const Page& page,
                                    std::span<const std::byte> bytes) const {
    std::vector<std::int64_t> bases;
    for (const auto& alternative : stream.below) bases.push_back(first_item(alternative, page.cluster));
    Chunk chunk;
    Buffer& tags = chunk.owned.emplace_back(page.elements);
    Buffer index(page.elements * sizeof(std::int64_t));
    TRY_VOID(decode_switch(bytes, page.elements, bases, tags.span(), index.span()));
    chunk.arrays.emplace_back(tags.span());
    chunk.owned.push_back(std::move(index));
    chunk.arrays.emplace_back(chunk.owned.back().span());
    return chunk;
  }

  const std::shared_ptr<const Source> source_;
  const std::uint64_t max_key_size_;
  std::map<std::uint64_t, std::shared_ptr<const Source>> pages_in_parts_;  // by address
  std::vector<FieldStream> streams_;
  const std::vector<Program> programs_;
  const std::vector<ColumnEncodings> encodings_;
  const std::vector<std::uint64_t> per_entry_;
  const PageTable pages_;
};

// A table that shows only the reason why it cannot be read.
std::shared_ptr<Table> unreadable(const KeyInfo& key, std::string why) {
  FieldNodes nothing;
  nothing.nodes.emplace_back();
  PageTable no_pages;
  no_pages.cluster_ends = {0};
  auto table = std::make_shared<NtupleTable>(nullptr, 0, std::move(nothing), std::move(no_pages));
  table->name = key.name;
  table->title = key.title;
  table->reason = std::move(why);
  return table;
}

}  // namespace

bool is_ntuple(std::string_view class_name) { return class_name == "ROOT::RNTuple" || is_trial_ntuple(class_name); }

bool is_trial_ntuple(std::string_view class_name) { return class_name == "ROOT::Experimental::RNTuple"; }

Result<std::shared_ptr<const Table>> open_ntuple(std::shared_ptr<const Source> source,
                                                 std::shared_ptr<const Source> edges, const KeyInfo& key,
                                                 std::span<const std::byte> payload) {
  if (!key.reason.empty()) return unreadable(key, std::string(key.reason));
  if (key.class_name != "ROOT::RNTuple")
    return unreadable(key, "RNTuple of an unsupported format before 1.0 (" + trial_version(payload) + ")");
  auto anchor = read_anchor(payload);
  if (!anchor) return unreadable(key, anchor.error().text);
  const auto metadata = source_of_blobs(edges, anchor->max_key_size);
  auto found = read_description(*metadata, *anchor);
  if (!found && is_of_storage(found.error())) return tl::unexpected<Error>(found.error());
  if (!found) return unreadable(key, found.error().text);
  FieldNodes made = make_field_nodes(found->schema);
  auto pages = read_page_lists(std::move(edges), anchor->max_key_size, *found, made);
  if (!pages && is_of_storage(pages.error())) return tl::unexpected<Error>(pages.error());
  if (!pages) return unreadable(key, pages.error().text);
  const std::uint64_t key_size = anchor->max_key_size;
  // Streamer fields that turn out not to follow their descriptions are shown as bytes, by a table that is made anew.
  const bool may_be_bytes = std::ranges::count(made.streams, FieldStream::Kind::objects, &FieldStream::kind) > 0;
  auto table = std::make_shared<NtupleTable>(source, key_size, std::move(made),
                                             may_be_bytes ? PageTable(*pages) : *std::move(pages));
  TRY(const auto as_bytes, table->contradicted());
  if (!as_bytes.empty()) {
    made = make_field_nodes(found->schema, as_bytes);
    table = std::make_shared<NtupleTable>(std::move(source), key_size, std::move(made), *std::move(pages));
  }
  table->name = key.name;
  table->title = found->header.description;
  table->attribute_sets = found->footer.attribute_sets.size();
  return std::shared_ptr<const Table>(std::move(table));
}

}  // namespace tfile
