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
    flat,     // slot 0: the data itself, numbers of one size
    jagged,   // slot 0: ends; slot 1: the data itself, split at the entries
    program,  // slots as the program fills them
    raw,      // slot 0: ends; slot 1: the bytes of each entry
  };
  // What is known of a slot's length without looking at baskets.
  enum class Length : std::uint8_t { entries, entries_and_one, unknown };

  BranchIndex branch = 0;
  bool is_stand_in = false;  // for one that is not known as long as nobody has tried the branch
  Kind kind = Kind::raw;
  std::uint32_t number_size = 1;  // flat, jagged: bytes to reverse together
  std::uint32_t item_size = 1;    // flat, jagged: bytes of one item of the whole shape
  bool is_boolean = false;        // flat, jagged: bytes become 0 or 1
  std::vector<Length> lengths;    // one for each slot
  std::unique_ptr<const Program> program;
  // flat, jagged: the branch that counts its lists, where it is not alone in them: all streams with the same one have
  // as many items.
  std::optional<BranchIndex> lists_of;
  std::uint32_t list_prefix = 0;  // program of a top-level list of numbers of item_size bytes: bytes before the items
  std::uint32_t packed_item_size = 0;  // program of a counted array of packed numbers: bytes of one item in the file
  // jagged, or packed_item_size; entry offsets left out of the file (kGenerateOffsetMap): the column that counts the
  // items of each entry.
  struct Counter {
    StreamId stream = 0;
    std::uint32_t slot = 0;
    Dtype dtype = Dtype::i4;
  };
  std::optional<Counter> counter;
  // A member of a split collection's items that is counted for each by another member: that branch, its stream once all
  // are known, and the stream that counts the items.
  std::optional<BranchIndex> item_counter_branch;
  std::optional<Counter> item_counter;
  StreamId collection = 0;
};

// The data of one basket, from disk or from the tree's record.
struct BasketData {
  Buffer payload;                      // data = its first `size` bytes, unless they lie outside...
  std::span<const std::byte> outside;  // ...in memory that outlives this: stored uncompressed, or in the tree's record
  std::size_t size = 0;
  std::int64_t entries = 0;
  std::vector<std::int32_t> offsets;       // entries + 1, or none
  std::vector<std::int32_t> displacement;  // as BasketContent has it
  std::vector<std::int64_t> item_counts;   // as Entries has it
  std::uint32_t keylen = 0;                // where the data begin for object tags
  std::span<const std::byte> bytes() const { return (outside.empty() ? payload.span() : outside).first(size); }
};

// Whether the size of the data tells how many items each slot has, or only the content can.
bool size_gives_items(const Stream&);

// Number of items in each slot, where size_gives_items. `first_chunk`: the leading 0 of the ends counts. Errors:
// damaged (data that is not a whole number of items).
Result<std::vector<std::int64_t>> items_by_size(const Stream&, std::uint64_t data_size, std::int64_t entries,
                                                bool first_chunk);

// The same by decoding the data, and the chunk, whose ends and positions count from its own start (place_chunk). For a
// stream with a program.
Result<ItemCounter::Counted> count_by_decoding(const Stream&, BasketData, bool first_chunk);

// Entry offsets of a counted array of packed numbers whose basket has none, from the items of each entry. Errors:
// damaged.
Result<> offsets_from_counts(const Stream&, BasketData&, std::span<const std::int64_t> counts);

// Whether the data reads as the stream's program says, to the last byte of each entry. Errors: as run_program's.
Result<> entries_follow_program(const Stream&, BasketData&);

// The classes in the data that the stream's program has no alternative for.
FoundClasses classes_of_entries(const Stream&, BasketData&);

// The arrays of a chunk. `first` as in StreamSet::decode; `counts`: items of each entry where the basket has no offsets
// and the stream has a counter; `shared`: where ends of lists are taken from and left, null for nowhere.
Result<Chunk> decode_basket(const Stream&, BasketData, std::span<const std::int64_t> counts,
                            std::span<const std::int64_t> first, SharedEnds* shared = nullptr);

}  // namespace tfile
