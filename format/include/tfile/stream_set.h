// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tfile/chunk.h"
#include "tfile/extents.h"

namespace tfile {

// The source of the number of items in each chunk of a stream.
enum class ItemsFrom : std::uint8_t {
  metadata,  // data read at opening
  headers,   // the first bytes of each stored chunk
  payloads,  // the whole stored chunk (and its inputs)
};

// Properties of a stream that are known without a look at its chunks.
struct StreamShape {
  std::size_t chunks = 0;
  std::size_t slots = 0;
  ItemsFrom items_from = ItemsFrom::metadata;
  std::uint64_t stored_bytes = 0;  // in the file, compressed, with keys
  bool is_made = false;            // a decode does much work on few bytes, as a drawing does
};

class ItemCounter;

// Streams of chunks: a table, or the payload of an object. Const after opening. Every function may be called from any
// thread; none blocks or reads. They say which bytes are needed, and turn those bytes into arrays.
class StreamSet {
 public:
  virtual ~StreamSet() = default;

  virtual std::size_t stream_count() const = 0;
  virtual StreamShape shape(StreamId) const = 0;
  std::size_t chunk_count(StreamId stream) const { return shape(stream).chunks; }
  std::size_t slot_count(StreamId stream) const { return shape(stream).slots; }

  // The entries that a chunk covers, for planning. From chunk to chunk, neither begins nor ends decrease. A chunk that
  // ends inside an entry shares it with the next one.
  virtual EntryRange chunk_entries(ChunkKey) const = 0;

  // The place of the stored bytes. Errors: damaged (a lost basket, a branch stored in a missing file).
  virtual Result<Locator> locate(ChunkKey) const = 0;

  // Bytes that decoding may take besides the stored bytes: an estimate from metadata, never from the payload. decode()
  // refuses a payload that claims more.
  virtual std::uint64_t decoded_size(ChunkKey) const = 0;

  // Chunks of other streams whose counts are needed to decode and count this one, in the order of the `inputs`
  // arguments. These chunks have no inputs themselves.
  virtual std::vector<ChunkKey> inputs(ChunkKey) const = 0;

  // The number of items in each slot's whole column, including the leading 0 of offsets: exact if the metadata give it,
  // else -1. A stream may have hidden slots, which are counted but have no column: their arrays are empty.
  virtual std::vector<std::int64_t> lengths(StreamId) const = 0;

  // The extents of a stream with ItemsFrom::metadata. Errors: invalid for other streams.
  virtual Result<Extents> extents(StreamId) const = 0;

  // Counts the items of all other streams; nullptr if there are none.
  virtual const ItemCounter* counter() const { return nullptr; }

  // Decompresses the chunk, checks bounds, swaps bytes and lays out the arrays. `first[slot]` is the item of the column
  // at which this chunk begins. Errors: damaged, unsupported.
  virtual Result<Chunk> decode(ChunkKey, std::span<const std::byte> stored,
                               std::span<const std::shared_ptr<const Chunk>> inputs,
                               std::span<const std::int64_t> first) const = 0;

  // Estimated memory of the set itself; 0 if it is negligible.
  virtual std::size_t memory() const { return 0; }

  // Entries that are stored together: the first entry of each cluster, then the number of all entries; {} without
  // clusters.
  std::vector<std::int64_t> clusters;
};

// Counts items that the metadata do not give. Like the set, it is const and thread-safe, and reads nothing.
class ItemCounter {
 public:
  virtual ~ItemCounter() = default;

  // The bytes of a chunk that give its items, for a stream with ItemsFrom::headers. Errors: as for locate().
  virtual Result<Locator> header_locator(ChunkKey) const { return Locator{}; }

  // The number of items of each slot in a chunk, including the leading 0 of offsets in the first chunk. If counting
  // decodes the chunk anyway, the result has the chunk, too, except for its position, which place() adds once it is
  // known: together the two do the same as decode(). `bytes`: the header, or all stored bytes. Errors: damaged,
  // unsupported.
  struct Counted {
    std::vector<std::int64_t> items;
    std::optional<Chunk> chunk;
  };
  virtual Result<Counted> count(ChunkKey, std::span<const std::byte> bytes,
                                std::span<const std::shared_ptr<const Chunk>> inputs) const = 0;
  virtual void place(ChunkKey, Chunk&, std::span<const std::int64_t> /*first*/) const {}

  // The items of all chunks of a stream with ItemsFrom::headers were counted: `lengths` as StreamSet::lengths() has
  // them, `header` of chunk 0. From then on lengths() may give those of other streams as well, whose records agree with
  // what was counted.
  virtual void note_counted(StreamId, std::span<const std::int64_t> /*lengths*/,
                            std::span<const std::byte> /*header*/) const {}
  // Streams with ItemsFrom::headers that suffice: once each was counted, lengths() gives the lengths of the others,
  // too, unless their records contradict. Of several lists with the same counter it names one.
  virtual std::vector<StreamId> telling_streams() const { return {}; }
};

// The extents of a stream with one chunk, made from its lengths. Errors: invalid (the chunk must be decoded to know).
Result<Extents> extents_of_one_chunk(const StreamSet&, StreamId);

// A set whose streams have one chunk each, which covers one entry and has no inputs: the payload of an object, and
// everything made from one.
template <class Set>
class OneChunkEach : public Set {
 public:
  EntryRange chunk_entries(ChunkKey) const final { return {0, 1}; }
  std::vector<ChunkKey> inputs(ChunkKey) const final { return {}; }
  Result<Extents> extents(StreamId stream) const final { return extents_of_one_chunk(*this, stream); }
};

// The first chunk of a stream that ends after `entry`; the number of chunks if none does.
std::uint32_t first_chunk_behind(const StreamSet&, StreamId, std::int64_t entry);

// The number of items in a slot's whole column, including the leading 0 of offsets. Reads the bytes that give it, chunk
// after chunk. Blocks. Errors: damaged, io.
Result<std::int64_t> count_items(const StreamSet&, StreamId, std::uint32_t slot);

}  // namespace tfile
