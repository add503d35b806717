// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "streamer/packing.h"
#include "tfile/chunk.h"
#include "tfile/result.h"

namespace tfile {

// Reading instructions for the entries of one branch, compiled once from its types (streamer/class_layout.h) and run for
// each entry: as ROOT's TStreamerInfoActions, a flat list rather than a walk over members. Each instruction takes bytes
// from the entry and appends to *slots*, the arrays that become columns.

struct Block {
  std::uint32_t begin = 0, end = 0;  // ops [begin, end)
  bool empty() const { return begin == end; }
};

struct Op {
  enum class Kind : std::uint8_t {
    numbers,       // `count` big-endian numbers of `item_size` bytes -> slot; the last one -> `reg` if >= 0
    packed,        // `count` numbers by packings[packing] -> slot
    string,        // counted string -> slot (ends), slot + 1 (chars)
    leaf_string,   // the same, where an entry without bytes is an empty string
    long_string,   // the same with an i4 length
    skip,          // `count` bytes
    skip_c_string, // up to and over a NUL
    frame,         // a version header
    object,        // version header, `block`; must end where the header says
    tobject,       // -> slot (fUniqueID), slot + 1 (fBits)
    bits,          // fBits of a split TObject -> slot
    list,          // u4 n, then n times `block` -> slot (ends), slot + 1 (items, hidden)
    fixed_list,    // `count` times `block` -> the same
    counted_list,  // registers[reg] times `block` -> the same
    flagged_list,  // u1 flag; unless 0, registers[reg] times `block` -> the same
    stl,           // version header; `block` if the collection is object-wise, `other` if member-wise
    value_version, // of the class of a member-wise collection
    member_list,   // u4 n; unless 0, `block` once, in which... -> slot as list
    repeat,        // ...runs its `block` n times: one member of all n items
    rest,          // `block` until the entry ends -> slot as list if `with_slot`
    counts,        // i4 n -> slot as list: the items themselves are in other branches
  };
  Kind kind = Kind::skip;
  std::uint8_t item_size = 1;
  bool with_slot = true;
  std::int16_t reg = -1;
  std::uint16_t packing = 0;
  std::uint32_t slot = 0;
  std::uint32_t count = 1;
  Block block = {}, other = {};
};

struct Slot {
  enum class Kind : std::uint8_t {
    big_endian,  // appended as stored, swapped once at the end
    boolean,     // any byte but 0 becomes 1 at the end
    native,
    ends,        // i8 ends of lists, relative to the chunk until the end; base: first item of slot + 1
    hidden,      // counts items of the list whose ends lie in slot - 1; no array
  };
  Kind kind = Kind::native;
  std::uint32_t number_size = 1;  // big_endian: bytes to reverse together
  std::uint32_t item_size = 1;    // bytes of one item of the whole shape
  friend bool operator==(const Slot&, const Slot&) = default;
};

struct Program {
  std::vector<Op> ops;
  Block main;
  std::vector<Slot> slots;
  std::vector<Packing> packings;
  std::uint16_t registers = 0;
  bool needs_entry_ends = false;  // it holds a `rest` that the entry's end alone bounds
  bool entry_is_items = false;    // entries are items of a split collection; one without bytes has none, nor headers
};

// The entries of one chunk: `data`, and where each begins and the last ends (entries + 1 offsets); without offsets the
// program itself finds the end of each.
struct Entries {
  std::span<const std::byte> data;
  std::span<const std::int32_t> offsets;
  std::int64_t count = 0;
};

// Runs the program over all entries. `first` as in StreamSet::decode; empty: ends stay relative (for counting).
// Errors: damaged (an entry that does not end where it should, a count that cannot be).
Result<Chunk> run_program(const Program&, const Entries&, std::span<const std::int64_t> first,
                          std::vector<std::int64_t>* items);

}  // namespace tfile
