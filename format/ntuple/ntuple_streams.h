// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ntuple/field_nodes.h"
#include "ntuple/page_table.h"
#include "tfile/read_together.h"
#include "tfile/stream_set.h"
#include "tfile/table.h"

namespace tfile {

// The ends in a chunk of ends.
inline std::span<const std::int64_t> ends_in(const Chunk& chunk) {
  const std::span<const std::byte> bytes = chunk.arrays.empty() ? std::span<const std::byte>() : chunk.arrays[0];
  return {reinterpret_cast<const std::int64_t*>(bytes.data()), bytes.size() / sizeof(std::int64_t)};
}

// A chunk of one array.
inline Chunk chunk_of(Buffer buffer) {
  Chunk chunk;
  chunk.arrays.emplace_back(chunk.owned.emplace_back(std::move(buffer)).span());
  return chunk;
}

// The table of an RNTuple: its streams, one for each column of a field. The functions are where their subject is: what
// the table is (ntuple_table.cpp), pages (page_streams.cpp), streams without pages of their own (computed_streams.cpp),
// fields that streamers wrote (object_streams.cpp).
class NtupleTable final : public Table, public ItemCounter {
 public:
  NtupleTable(std::shared_ptr<const Source> source, std::uint64_t max_key_size, FieldNodes made, PageTable pages);
  std::size_t memory() const override;
  std::size_t stream_count() const override { return streams_.size(); }
  StreamShape shape(StreamId id) const override;
  EntryRange chunk_entries(ChunkKey key) const override;
  Result<Locator> locate(ChunkKey key) const override;
  std::uint64_t decoded_size(ChunkKey key) const override;
  std::string_view codec_of(ChunkKey key, std::span<const std::byte> begin, std::uint64_t stored) const override;
  std::vector<ChunkKey> inputs(ChunkKey key) const override;
  std::vector<std::int64_t> lengths(StreamId id) const override;
  Result<Extents> extents(StreamId id) const override;
  const ItemCounter* counter() const override { return this; }

  // For lists of items that have no columns: the last end of each cluster counts its items.
  Result<Counted> count(ChunkKey key, std::span<const std::byte> bytes,
                        std::span<const std::shared_ptr<const Chunk>> inputs) const override;
  void place(ChunkKey key, Chunk& chunk, std::span<const std::int64_t> first) const override;
  Result<Chunk> decode(ChunkKey key, std::span<const std::byte> stored,
                       std::span<const std::shared_ptr<const Chunk>> inputs,
                       std::span<const std::int64_t> first) const override;

  // Streamer fields whose first objects are not what the descriptions of their classes say, as their streamers were
  // written by hand: the columns of their bytes, with the reason. Errors: io, ... (of the source). Blocks.
  Result<std::map<PageColumn, std::string>> contradicted() const;

 private:
  using Kind = FieldStream::Kind;

  // The first pages of a streamer field in its first cluster with objects: of their ends, and of their bytes.
  struct Trial {
    const FieldStream* stream = nullptr;
    std::uint32_t cluster = 0;
    std::array<ChunkKey, 2> pages;
  };
  void add_trial(const FieldStream& stream, std::vector<Trial>& trials) const;

  // Whether the objects that lie in these pages are read to their last byte. Damage says nothing about that.
  bool follows(const Trial& trial, std::span<const WantedBytes, 2> pages) const;
  const ColumnPages& pages_of(const FieldStream& stream) const { return pages_.columns[stream.column]; }
  static bool reads_pages(const FieldStream& stream);
  static bool has_uncounted_items(const FieldStream& stream) { return stream.kind == Kind::ends && !stream.below[0]; }
  static Dtype dtype_of(const FieldStream& stream);
  std::uint32_t compression_of(StreamId id) const;
  const PageEncoding& encoding_of(const FieldStream& stream, const Page& page) const;
  std::size_t chunk_count_of(const FieldStream& stream) const;
  void add_pages_in_parts(const ColumnPages& column);
  StreamShape shape_of_objects(const FieldStream& stream) const;

  // The elements of the stream's column in a cluster.
  ItemRange elements_of_cluster(const FieldStream& stream, std::uint32_t cluster) const;
  void add_pages_of_cluster(StreamId id, std::uint32_t cluster, std::vector<ChunkKey>& keys) const;

  // Arrays are rarely much larger than the streamed bytes, except for ends of short lists.
  std::uint64_t size_of_objects(const FieldStream& stream, std::uint32_t cluster) const;
  Result<Chunk> objects_of(const FieldStream& stream, std::uint32_t cluster,
                           std::span<const std::shared_ptr<const Chunk>> inputs, std::span<const std::int64_t> first,
                           std::vector<std::int64_t>* items) const;
  Result<Counted> count_objects(const FieldStream& stream, std::uint32_t cluster,
                                std::span<const std::shared_ptr<const Chunk>> inputs) const;

  // A page may end inside a fixed array. The elements of such a column get a stream of their own, and the arrays are
  // assembled from its chunks.
  void take_arrays_apart();

  // The page with the end of the list before those of page `index`. None is needed if the lists of this page begin a
  // cluster, since their items begin there, too, unless these have no columns that count them.
  std::optional<std::uint32_t> page_before(const FieldStream& stream, std::uint32_t index) const;

  // The elements of the arrays that end in a page.
  ItemRange whole_elements(const FieldStream& stream, std::uint32_t index) const;

  // Converts a number of elements of the counting column to items.
  std::int64_t items(const ItemCount& count, std::int64_t elements) const;
  std::int64_t first_item(const std::optional<ItemCount>& count, std::uint32_t cluster) const;
  std::int64_t step_count(const FieldStream& stream) const;
  std::int64_t steps_in_chunk(const FieldStream& stream) const;
  EntryRange step_entries(const FieldStream& stream, std::uint32_t index) const;

  // Whether all these items are in one lost page. The lists could still be computed, but a file that claims more
  // entries than it has could make them endless.
  bool is_lost(const ItemCount& count, std::int64_t begin, std::int64_t end) const;
  Result<Chunk> decode_steps(const FieldStream& stream, std::uint32_t index) const;
  Result<Chunk> decode_sizes(const FieldStream& stream, std::uint32_t index,
                             std::span<const std::shared_ptr<const Chunk>> inputs) const;
  Result<Chunk> decode_arrays(const FieldStream& stream, std::uint32_t index,
                              std::span<const std::shared_ptr<const Chunk>> inputs) const;

  // The bytes of a page in the form of its encoding. `stored` includes the checksum, if there is one.
  Result<Buffer> unpacked(const FieldStream& stream, const Page& page, std::span<const std::byte> stored) const;
  Result<Chunk> decode_page(const FieldStream& stream, std::uint32_t index, std::span<const std::byte> stored,
                            std::span<const std::int64_t> first) const;
  Result<> check_cluster_end(const FieldStream& stream, const Page& page, std::int64_t end) const;
  Result<Chunk> decode_ends_page(const FieldStream& stream, const Page& page, std::uint32_t index,
                                 std::span<const std::byte> bytes, std::span<const std::int64_t> first) const;
  Result<Chunk> decode_variant_page(const FieldStream& stream, const Page& page,
                                    std::span<const std::byte> bytes) const;
  const std::shared_ptr<const Source> source_;
  const std::uint64_t max_key_size_;
  std::map<std::uint64_t, std::shared_ptr<const Source>> pages_in_parts_;  // by address
  std::vector<FieldStream> streams_;
  const std::vector<Program> programs_;
  const std::vector<ColumnEncodings> encodings_;
  const std::vector<std::uint64_t> per_entry_;
  const PageTable pages_;
};

}  // namespace tfile
