// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "streamer/layout/read_program.h"
#include "tfile/stream_set.h"
#include "tree/read/shared_ends.h"
#include "tree/record/basket.h"
#include "tree/record/tree_record.h"

namespace tfile {

// How the baskets of one branch become arrays.
struct Stream {
  enum class Kind : std::uint8_t {
    flat,     // slot 0: the data, as numbers of one size
    jagged,   // slot 0: ends; slot 1: the data, split into entries
    program,  // slots as the program fills them
    raw,      // slot 0: ends; slot 1: the bytes of each entry
  };
  // The length of a slot, as far as it is known without a look at baskets.
  enum class Length : std::uint8_t { entries, entries_and_one, unknown };

  BranchIndex branch = 0;
  bool is_stand_in = false;  // the branch is not resolved yet
  Kind kind = Kind::raw;
  std::uint32_t number_size = 1;  // flat, jagged: bytes to reverse together
  std::uint32_t item_size = 1;    // flat, jagged: bytes of one item of the whole shape
  bool is_boolean = false;        // flat, jagged: bytes become 0 or 1
  std::vector<Length> lengths;    // one per slot
  std::unique_ptr<const Program> program;
  // flat, jagged: the branch that counts its lists, if it shares them with other streams. All streams with the same
  // branch have the same number of items.
  std::optional<BranchIndex> lists_of;
  std::uint32_t list_prefix = 0;  // program of a top-level list of numbers of item_size bytes: bytes before the items
  std::uint32_t packed_item_size = 0;  // program of a counted array of packed numbers: bytes of one item in the file
  // jagged, or with packed_item_size, if the file has no entry offsets (kGenerateOffsetMap): the column that counts the
  // items of each entry.
  struct Counter {
    StreamId stream = 0;
    std::uint32_t slot = 0;
    Dtype dtype = Dtype::i4;
  };
  std::optional<Counter> counter;
  // For a member of a split collection's items whose length another member gives for each item: that branch, its stream
  // (once all are known), and the stream that counts the items.
  std::optional<BranchIndex> item_counter_branch;
  std::optional<Counter> item_counter;
  StreamId collection = 0;
};

// The data of one basket, from disk or from the tree's record.
struct BasketData {
  Buffer payload;                      // the data are its first `size` bytes, unless they are outside...
  std::span<const std::byte> outside;  // ...in memory that outlives this: stored uncompressed, or in the tree's record
  std::size_t size = 0;
  std::int64_t entries = 0;
  std::vector<std::int32_t> offsets;       // entries + 1, or none
  std::vector<std::int32_t> displacement;  // as in BasketContent
  std::vector<std::int64_t> item_counts;   // as in Entries
  std::uint32_t keylen = 0;                // where the data begin as object tags count
  std::span<const std::byte> bytes() const { return (outside.empty() ? payload.span() : outside).first(size); }
};

// Whether the size of the data gives the number of items in each slot; if not, only the content does.
bool size_gives_items(const Stream&);

// The number of items in each slot, if size_gives_items(). `first_chunk`: includes the leading 0 of the ends. Errors:
// damaged (the data are not a whole number of items).
Result<std::vector<std::int64_t>> items_by_size(const Stream&, std::uint64_t data_size, std::int64_t entries,
                                                bool first_chunk);

// Counts by decoding the data, for a stream with a program. The result includes the chunk, whose ends and positions
// count from its own start (place_chunk).
Result<ItemCounter::Counted> count_by_decoding(const Stream&, BasketData, bool first_chunk);

// Computes the entry offsets of a counted array of packed numbers from the number of items in each entry, for a basket
// that has none. Errors: damaged.
Result<> offsets_from_counts(const Stream&, BasketData&, std::span<const std::int64_t> counts);

// Whether the stream's program can read the data up to the last byte of each entry. Errors: as for run_program.
Result<> entries_follow_program(const Stream&, BasketData&);

// The classes in the data for which the stream's program has no alternative.
FoundClasses classes_of_entries(const Stream&, BasketData&);

// The arrays of a chunk. `first` as in StreamSet::decode. `counts`: items of each entry if the basket has no offsets
// and the stream has a counter. `shared`: source and store of ends of lists; may be nullptr.
Result<Chunk> decode_basket(const Stream&, BasketData, std::span<const std::int64_t> counts,
                            std::span<const std::int64_t> first, SharedEnds* shared = nullptr);

}  // namespace tfile
