// SPDX-License-Identifier: Apache-2.0
#include "ntuple/ntuple_table.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compression/codec.h"
#include "model/heap.h"
#include "ntuple/blob_source.h"
#include "ntuple/description.h"
#include "ntuple/field_nodes.h"
#include "ntuple/ntuple_streams.h"
#include "ntuple/page_lists.h"
#include "ntuple/page_table.h"
#include "streamer/layout/chunk_of_arrays.h"

namespace tfile {

NtupleTable::NtupleTable(std::shared_ptr<const Source> source, std::uint64_t max_key_size, FieldNodes made,
                         PageTable pages)
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

std::size_t NtupleTable::memory() const {
  return heap_of_elements(nodes) + heap_of_elements(columns) + heap_of_elements(streams_) + pages_.memory();
}

StreamShape NtupleTable::shape(StreamId id) const {
  const FieldStream& stream = streams_[id];
  StreamShape shape;
  if (stream.kind == Kind::objects) return shape_of_objects(stream);
  shape.chunks = std::max<std::size_t>(chunk_count_of(stream), 1);
  shape.slots = stream.kind == Kind::variant || has_uncounted_items(stream) ? 2 : 1;
  shape.items_from = has_uncounted_items(stream) ? ItemsFrom::payloads : ItemsFrom::metadata;
  if (stream.kind != Kind::steps) shape.stored_bytes = pages_of(stream).stored_bytes();
  return shape;
}

EntryRange NtupleTable::chunk_entries(ChunkKey key) const {
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

Result<Locator> NtupleTable::locate(ChunkKey key) const {
  const FieldStream& stream = streams_[key.stream];
  Locator locator;
  if (!reads_pages(stream) || key.index >= pages_of(stream).size()) return locator;
  const Page page = pages_of(stream).page(key.index);
  if (page.kind == Page::Kind::zeros) return locator;
  if (page.kind == Page::Kind::lost) return fail(ErrorKind::damaged, "page " + std::to_string(key.index) + " was lost");
  locator.range = page.range;
  if (page.has_checksum) locator.range.size += kChecksumSize;
  const bool in_parts = is_in_parts(locator.range.size, max_key_size_);
  locator.source = in_parts ? pages_in_parts_.at(locator.range.begin).get() : source_.get();
  return locator;
}

std::uint64_t NtupleTable::decoded_size(ChunkKey key) const {
  const FieldStream& stream = streams_[key.stream];
  if (stream.kind == Kind::objects) return size_of_objects(stream, key.index);
  const std::uint64_t size = stream.kind == Kind::variant ? 9 : size_of(dtype_of(stream));
  if (stream.kind == Kind::steps) return size * (static_cast<std::uint64_t>(steps_in_chunk(stream)) + 1);
  if (key.index >= pages_of(stream).size()) return size;
  const Page page = pages_of(stream).page(key.index);
  const std::uint64_t unpacked = page_size(encoding_of(stream, page), page.elements);
  return size * (page.elements + stream.per_item) + unpacked;
}

std::vector<ChunkKey> NtupleTable::inputs(ChunkKey key) const {
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

std::vector<std::int64_t> NtupleTable::lengths(StreamId id) const {
  const FieldStream& stream = streams_[id];
  if (stream.kind == Kind::objects) return std::vector<std::int64_t>(programs_[stream.program].slots.size(), -1);
  if (has_uncounted_items(stream)) return {pages_of(stream).elements() + 1, -1};
  if (stream.kind == Kind::steps) return {step_count(stream) + 1};
  const std::int64_t elements = pages_of(stream).elements();
  if (stream.kind == Kind::variant) return {elements, elements};
  if (stream.kind == Kind::ends) return {elements + 1};
  return {elements / static_cast<std::int64_t>(stream.per_item)};
}

Result<Extents> NtupleTable::extents(StreamId id) const {
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

Result<ItemCounter::Counted> NtupleTable::count(ChunkKey key, std::span<const std::byte> bytes,
                                                std::span<const std::shared_ptr<const Chunk>> inputs) const {
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

void NtupleTable::place(ChunkKey key, Chunk& chunk, std::span<const std::int64_t> first) const {
  const FieldStream& stream = streams_[key.stream];
  if (stream.kind == Kind::objects) place_chunk(programs_[stream.program], first, chunk);
}

Result<Chunk> NtupleTable::decode(ChunkKey key, std::span<const std::byte> stored,
                                  std::span<const std::shared_ptr<const Chunk>> inputs,
                                  std::span<const std::int64_t> first) const {
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

Dtype NtupleTable::dtype_of(const FieldStream& stream) {
  return stream.kind == Kind::ends || stream.kind == Kind::steps ? Dtype::i8 : stream.dtype;
}

std::size_t NtupleTable::chunk_count_of(const FieldStream& stream) const {
  if (stream.kind != Kind::steps) return pages_of(stream).size();
  const std::int64_t in_chunk = steps_in_chunk(stream);
  return static_cast<std::size_t>((step_count(stream) + in_chunk - 1) / in_chunk);
}

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
