// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tfile/buffer.h"
#include "tfile/node.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

struct ChunkKey {
  StreamId stream = 0;
  std::uint32_t index = 0;
  friend bool operator==(const ChunkKey&, const ChunkKey&) = default;
};

// Where a chunk's stored bytes lie: `range` of `source`; or `embedded` bytes, owned by the stream set; or neither
// (nothing is stored; decode takes an empty span).
struct Locator {
  const Source* source = nullptr;  // owned by the stream set
  ByteRange range;
  std::span<const std::byte> embedded;
};

// What one basket or page decodes to: arrays[slot] holds, in final form, this chunk's part of the column of that slot.
// An offsets column holds the ends of its lists, counted from the start of the column they index; the chunk whose
// first item is item 0 begins with the leading 0.
struct Chunk {
  std::vector<Buffer> owned;
  std::shared_ptr<const Buffer> shared;            // with chunks of other streams
  std::vector<std::span<const std::byte>> arrays;  // views into `owned` and `shared`
  std::size_t memory() const {
    std::size_t sum = sizeof(Chunk) + arrays.size() * sizeof(arrays[0]);
    for (const Buffer& b : owned) sum += b.size();
    if (shared) sum += shared->size();  // which of them goes last is not known
    return sum;
  }
};

// What must be looked at to know how many items each chunk of a stream holds.
enum class ItemsFrom : std::uint8_t {
  metadata,  // nothing: `items` takes an empty span
  headers,   // the bytes at `header_locator`
  payloads,  // the whole stored chunk (and inputs)
};

// Streams of chunks: a table, or the payload of an object. Const after opening; every function may be called from any
// thread and none blocks or reads: they say which bytes are needed and turn those bytes into arrays.
class StreamSet {
 public:
  virtual ~StreamSet() = default;

  virtual std::size_t stream_count() const = 0;
  virtual std::size_t chunk_count(StreamId) const = 0;
  virtual std::size_t slot_count(StreamId) const = 0;

  // The entries that a chunk covers, and the chunk that covers an entry (for planning; sorted, without overlap).
  virtual EntryRange chunk_entries(ChunkKey) const = 0;

  // Where the stored bytes lie. Errors: damaged (a lost basket, a branch stored in a file that is missing).
  virtual Result<Locator> locate(ChunkKey) const = 0;

  // Bytes that decoding may take beyond the stored bytes: an estimate from metadata, never from the payload. What a
  // file claims beyond it is refused by decode.
  virtual std::uint64_t decoded_size(ChunkKey) const = 0;

  // Chunks of other streams whose counts decode and items need (they need none themselves), in the order of `inputs`.
  virtual std::vector<ChunkKey> inputs(ChunkKey) const = 0;

  virtual ItemsFrom items_from(StreamId) const = 0;
  virtual Result<Locator> header_locator(ChunkKey) const = 0;

  // Items of each slot that this chunk holds. The leading 0 of an offsets column counts in its first chunk.
  virtual Result<std::vector<std::int64_t>> items(ChunkKey, std::span<const std::byte> stored,
                                                  std::span<const std::shared_ptr<const Chunk>> inputs) const = 0;

  // Where counting the items of a chunk decodes it anyway: the items, and the chunk but for where it begins, which
  // `place` adds once that is known; together they do what decode does. nullopt where it does not.
  struct CountedChunk {
    std::vector<std::int64_t> items;
    Chunk chunk;
  };
  virtual Result<std::optional<CountedChunk>> decode_counting(
      ChunkKey, std::span<const std::byte> /*stored*/, std::span<const std::shared_ptr<const Chunk>> /*inputs*/) const {
    return std::optional<CountedChunk>();
  }
  virtual void place(ChunkKey, Chunk&, std::span<const std::int64_t> /*first*/) const {}

  // Length of each slot's whole column where metadata and (if `needs_header`) the header of chunk 0 give it; -1 for a
  // slot where only the sum of `items` can tell, nullopt where that is so for all. Exact, or nothing. A stream may have
  // hidden slots, counted by `items` but without a column: their arrays are empty.
  struct QuickLengths {
    bool needs_header = false;
    bool possible = false;
  };
  virtual QuickLengths quick_lengths(StreamId) const = 0;
  // Streams whose headers of chunk 0, taken together, leave no other stream in need of one, once `lengths` was asked
  // with them: of lists with the same counter, one is enough.
  virtual std::vector<StreamId> telling_headers() const { return {}; }
  virtual Result<std::optional<std::vector<std::int64_t>>> lengths(StreamId,
                                                                   std::span<const std::byte> header0) const = 0;

  // Decompresses, checks bounds, swaps bytes, lays out. `first[slot]` is the item of the column with which this chunk
  // begins (the running sum of `items`). Errors: damaged, unsupported.
  virtual Result<Chunk> decode(ChunkKey, std::span<const std::byte> stored,
                               std::span<const std::shared_ptr<const Chunk>> inputs,
                               std::span<const std::int64_t> first) const = 0;

  // Whether a decode is long work on few bytes (a drawing), which is not to stand in the way of those that read
  // columns.
  virtual bool is_made() const { return false; }

  // What the stream takes in its file, compressed, keys included.
  virtual std::uint64_t stored_bytes(StreamId) const = 0;

  // Memory that the set itself holds, estimated; 0 where that is next to nothing.
  virtual std::size_t memory() const { return 0; }
};

// Items of a slot's whole column, the leading 0 of offsets included: reads whatever of each chunk tells them, one after
// the other. Blocks. Errors: damaged, io.
Result<std::int64_t> count_items(const StreamSet&, StreamId, std::uint32_t slot);

}  // namespace tfile
