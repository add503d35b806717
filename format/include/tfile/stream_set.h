// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tfile/chunk.h"
#include "tfile/extents.h"

namespace tfile {

// What tells how many items each chunk of a stream holds.
enum class ItemsFrom : std::uint8_t {
  metadata,  // what was read at opening
  headers,   // the first bytes of each stored chunk
  payloads,  // the whole stored chunk (and its inputs)
};

// What is known of a stream without a look at any of its chunks.
struct StreamShape {
  std::size_t chunks = 0;
  std::size_t slots = 0;
  ItemsFrom items_from = ItemsFrom::metadata;
  std::uint64_t stored_bytes = 0;  // in the file, compressed, keys included
  bool is_made = false;            // a decode is long work on few bytes, as a drawing is
};

class ItemCounter;

// Streams of chunks: a table, or the payload of an object. Const after opening; every function may be called from any
// thread and none blocks or reads: they say which bytes are needed and turn those bytes into arrays.
class StreamSet {
 public:
  virtual ~StreamSet() = default;

  virtual std::size_t stream_count() const = 0;
  virtual StreamShape shape(StreamId) const = 0;
  std::size_t chunk_count(StreamId stream) const { return shape(stream).chunks; }
  std::size_t slot_count(StreamId stream) const { return shape(stream).slots; }

  // The entries that a chunk covers, for planning. Neither begins nor ends fall from chunk to chunk; a chunk that ends
  // inside an entry shares it with the next one.
  virtual EntryRange chunk_entries(ChunkKey) const = 0;

  // Where the stored bytes lie. Errors: damaged (a lost basket, a branch stored in a file that is missing).
  virtual Result<Locator> locate(ChunkKey) const = 0;

  // Bytes that decoding may take beyond the stored bytes: an estimate from metadata, never from the payload. What a
  // file claims beyond it is refused by decode.
  virtual std::uint64_t decoded_size(ChunkKey) const = 0;

  // Chunks of other streams whose counts decoding and counting need (they need none themselves), in the order of
  // `inputs`.
  virtual std::vector<ChunkKey> inputs(ChunkKey) const = 0;

  // Items of each slot's whole column, the leading 0 of offsets included, where metadata tells: exact, or -1. A stream
  // may have hidden slots, which are counted but have no column: their arrays are empty.
  virtual std::vector<std::int64_t> lengths(StreamId) const = 0;

  // Of a stream whose items metadata tells. Errors: invalid for others.
  virtual Result<Extents> extents(StreamId) const = 0;

  // Counts the items of the other streams; nullptr where there are none.
  virtual const ItemCounter* counter() const { return nullptr; }

  // Decompresses, checks bounds, swaps bytes, lays out. `first[slot]` is the item of the column with which this chunk
  // begins. Errors: damaged, unsupported.
  virtual Result<Chunk> decode(ChunkKey, std::span<const std::byte> stored,
                               std::span<const std::shared_ptr<const Chunk>> inputs,
                               std::span<const std::int64_t> first) const = 0;

  // Memory that the set itself holds, estimated; 0 where that is next to nothing.
  virtual std::size_t memory() const { return 0; }

  // Entries that are stored together: the first of each cluster, then the number of all; {} where there are none.
  std::vector<std::int64_t> clusters;
};

// Counts items where metadata does not tell them. Const and thread-safe, as the set is, and reads nothing either.
class ItemCounter {
 public:
  virtual ~ItemCounter() = default;

  // The bytes of a chunk that tell its items, of a stream with ItemsFrom::headers. Errors: as of locate.
  virtual Result<Locator> header_locator(ChunkKey) const { return Locator{}; }

  // The items of each slot that a chunk holds, the leading 0 of offsets in the first one; and, where counting decodes
  // the chunk anyway, the chunk itself but for where it begins, which `place` adds once that is known: together they
  // do what decode does. `bytes`: of the header, or all that is stored. Errors: damaged, unsupported.
  struct Counted {
    std::vector<std::int64_t> items;
    std::optional<Chunk> chunk;
  };
  virtual Result<Counted> count(ChunkKey, std::span<const std::byte> bytes,
                                std::span<const std::shared_ptr<const Chunk>> inputs) const = 0;
  virtual void place(ChunkKey, Chunk&, std::span<const std::int64_t> /*first*/) const {}

  // Whether the header of chunk 0 tells the lengths of the stream's columns; and, from that header, these lengths, or
  // nullopt where it does not after all.
  virtual bool header_tells(StreamId) const { return false; }
  virtual Result<std::optional<std::vector<std::int64_t>>> lengths_by_header(
      StreamId, std::span<const std::byte> /*header*/) const {
    return std::optional<std::vector<std::int64_t>>();
  }
  // Streams whose headers are enough: once each was shown to `lengths_by_header`, StreamSet::lengths tells those of the
  // others with a header that tells. Of lists with the same counter, one is.
  virtual std::vector<StreamId> telling_headers() const { return {}; }
};

// Of streams of one chunk, whose lengths are their extents. Errors: invalid (only a look at the chunk tells).
Result<Extents> extents_of_one_chunk(const StreamSet&, StreamId);

// A set whose streams have one chunk each, which covers one entry and needs no other: the payload of an object, and
// what is made of one.
template <class Set>
class OneChunkEach : public Set {
 public:
  EntryRange chunk_entries(ChunkKey) const final { return {0, 1}; }
  std::vector<ChunkKey> inputs(ChunkKey) const final { return {}; }
  Result<Extents> extents(StreamId stream) const final { return extents_of_one_chunk(*this, stream); }
};

// The first chunk of a stream that ends behind an entry; as many as there are chunks where none does.
std::uint32_t first_chunk_behind(const StreamSet&, StreamId, std::int64_t entry);

// Items of a slot's whole column, the leading 0 of offsets included: reads whatever of each chunk tells them, one after
// the other. Blocks. Errors: damaged, io.
Result<std::int64_t> count_items(const StreamSet&, StreamId, std::uint32_t slot);

}  // namespace tfile
