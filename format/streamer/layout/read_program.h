// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "streamer/layout/packing.h"
#include "tfile/result.h"
#include "tfile/stream_set.h"

namespace tfile {

// Reading instructions for the entries of one branch, compiled once from its types (streamer/class_layout.h) and run
// for each entry: as ROOT's TStreamerInfoActions, a flat list rather than a walk over members. Each instruction takes
// bytes from the entry and appends to *slots*, the arrays that become columns.

struct OwnClass;

struct Block {
  std::uint32_t begin = 0, end = 0;  // ops [begin, end)
  bool empty() const { return begin == end; }
};

struct Op {
  enum class Kind : std::uint8_t {
    numbers,        // `count` big-endian numbers of `item_size` bytes -> slot; the last one -> `reg` if >= 0
    packed,         // `count` numbers by packings[packing] -> slot
    string,         // counted string -> slot (ends), slot + 1 (chars)
    leaf_string,    // the same, where an entry without bytes is an empty string
    long_string,    // the same with an i4 length
    skip,           // `count` bytes
    skip_c_string,  // up to and over a NUL
    frame,          // a version header
    object,         // version header, `block`; must end where the header says
    tobject,        // -> slot (fUniqueID), slot + 1 (fBits)
    bits,           // fBits of a split TObject -> slot
    list,           // u4 n, then n times `block` -> slot (ends), slot + 1 (items, hidden)
    fixed_list,     // `count` times `block` -> the same
    counted_list,   // registers[reg] times `block` -> the same
    flagged_list,   // u1 flag; unless 0, registers[reg] times `block` -> the same
    triangle_list,  // n (n + 1) / 2 times `block` -> the same, where registers[reg] is the square of n
    stl,            // version header; `block` if the collection is object-wise, `other` if member-wise
    value_version,  // of the class of a member-wise collection
    member_list,    // u4 n; unless 0, `block` once, in which... -> slot as list
    repeat,         // ...runs its `block` n times: one member of all n items
    rest,           // `block` until the entry ends -> slot as list if `with_slot`
    counts,         // i4 n -> slot as list: the items themselves are in other branches
    loop,           // version header, then `count` arrays of registers[reg] (reg < 0: as many as fill it) times `block`
                    // -> slot as list; if `count` > 1 as list of `count` lists in slot + 2
    pointer,        // a pointer slot, by pointers[table]
    slot_bytes,     // the bytes of a pointer slot, or of an object with a byte count -> slot (ends), slot + 1 (bytes)
    collection,     // of ROOT's own, as `own` says: `block` for each of its items -> slot as list
    clones,         // TClonesArray, by clones[table] -> slot as list
    zero,           // nothing: one item of zero bytes -> slot
    no_items,       // nothing: a list or string without items -> slot (ends), slot + 1 unchanged
    unknown,        // reached only where a class that nobody described has an object: fails with unknown[table]
  };
  Kind kind = Kind::skip;
  std::uint8_t item_size = 1;
  bool with_slot = true;
  bool of_item = false;  // counted and flagged lists in `repeat`: registers[reg] of the item rather than the last
  std::int16_t reg = -1;
  std::uint16_t packing = 0;
  std::uint16_t table = 0;
  // object: the checksum that may follow version 0; 0: always one does. A class whose own version is 0 has none.
  std::uint32_t checksum = 0;
  bool is_bare = false;     // object: without a header where no byte count stands, as some streamers by hand write it
  std::uint16_t forms = 0;  // object: 1 + the index of its ClassVersions; 0: it has one form
  std::uint32_t slot = 0;
  std::uint32_t count = 1;
  Block block = {}, other = {};
  const OwnClass* own = nullptr;
};

struct Slot {
  enum class Kind : std::uint8_t {
    big_endian,  // appended as stored, swapped once at the end
    boolean,     // any byte but 0 becomes 1 at the end
    native,
    ends,    // i8 ends of lists, relative to the chunk until the end; base: first item of slot + 1
    hidden,  // counts items of the list whose ends lie in slot - 1, or of an alternative; no array
    index,   // i8 positions in the alternatives of a pointer; slot - 1 has the tags, slot + tag counts alternative tag
  };
  Kind kind = Kind::native;
  std::uint32_t number_size = 1;  // big_endian: bytes to reverse together
  std::uint32_t item_size = 1;    // bytes of one item of the whole shape
  bool is_unseen = false;         // without a column: read, and dropped at the end
  friend bool operator==(const Slot&, const Slot&) = default;
};

// What a pointer may point to, told by the class name in its slot. An object that several slots refer to is an item of
// each list, but one item of an alternative.
struct PointerChoices {
  struct Alternative {
    std::string class_name;
    Block block;
  };
  std::vector<Alternative> alternatives;
  bool is_optional =
      false;  // one alternative and no other: a list of 0 or 1 -> slot; else tags -> slot, index -> slot + 1
  std::int32_t other = -1;  // slot of the bytes (as `slot_bytes`) of objects of further classes, the last alternative
  std::string place;        // names the pointer in FoundClasses
};

// A TClonesArray tells the class of its items in its bytes.
struct ClonesChoice {
  std::string class_name;  // empty: not known yet, or
  bool is_raw = false;     // as bytes: header and all -> slot, nothing of an empty one
  Block object_wise, member_wise;
  std::string place;
};

// A class that was written by several of its versions, which the header of an object tells apart: Op::block reads the
// main one, each of the others fills the same slots.
struct ClassVersions {
  struct Written {
    std::int32_t version = 0;
    std::uint32_t checksum = 0;  // tells instead where the header's version is 0
    Block block;
    bool is(std::uint16_t version_read, std::uint32_t checksum_read) const {
      return version_read != 0 ? version == version_read : checksum == checksum_read;
    }
  };
  Written main;
  std::vector<Written> others;
};

struct Program {
  std::vector<Op> ops;
  Block main;
  std::vector<Slot> slots;
  std::vector<Packing> packings;
  std::vector<PointerChoices> pointers;
  std::vector<ClonesChoice> clones;
  std::vector<ClassVersions> forms;
  std::vector<std::string> unknown;
  std::uint16_t registers = 0;
  std::int16_t item_counts = -1;  // the register that Entries::item_counts fills
  bool needs_entry_ends = false;  // it holds a `rest` that the entry's end alone bounds
  bool entry_is_items = false;    // entries are items of a split collection; one without bytes has none, nor headers
};

// The entries of one chunk: `data`, and where each begins and the last ends (entries + 1 offsets); without offsets the
// program itself finds the end of each.
struct Entries {
  std::span<const std::byte> data;
  std::span<const std::int32_t> offsets;
  std::int64_t count = 0;
  std::uint32_t origin = 0;                         // what byte 0 of `data` counts as in object tags: fKeylen
  std::span<const std::int64_t> item_counts = {};   // of each item, where another branch counts their arrays
  std::span<const std::int32_t> displacement = {};  // of each entry, or none (docs/format.md, "Baskets")
};

// Names of classes met in places whose classes only the data tell, by place.
using FoundClasses = std::map<std::string, std::set<std::string>>;

// Runs the program over the entries for the classes alone that it has no alternative for. What cannot be read ends it.
FoundClasses find_classes(const Program&, const Entries&);

// Runs the program over all entries. `first` as in StreamSet::decode; empty: ends stay relative (for counting).
// Errors: damaged (an entry that does not end where it should, a count that cannot be).
Result<Chunk> run_program(const Program&, const Entries&, std::span<const std::int64_t> first,
                          std::vector<std::int64_t>* items);

}  // namespace tfile
