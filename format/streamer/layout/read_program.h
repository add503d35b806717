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

// Instructions to read the entries of one branch. They are compiled once from its types (streamer/class_layout.h) and
// run for each entry: a flat list, like ROOT's TStreamerInfoActions, instead of a walk over members. Each instruction
// takes bytes from the entry and appends to *slots*, the arrays that become columns.

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
    leaf_string,    // the same; an entry without bytes is an empty string
    long_string,    // the same with an i4 length
    skip,           // `count` bytes
    skip_c_string,  // up to and including a NUL
    frame,          // a version header
    object,         // version header, `block`; must end as the header says
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
    collection,     // one of ROOT's own, as `own` says: `block` for each of its items -> slot as list
    clones,         // TClonesArray, by clones[table] -> slot as list
    zero,           // reads nothing: one item of zero bytes -> slot
    no_items,       // reads nothing: a list or string without items -> slot (ends), slot + 1 unchanged
    unknown,        // an object of a class without a description: fails with unknown[table]
  };
  Kind kind = Kind::skip;
  std::uint8_t item_size = 1;
  bool with_slot = true;
  bool of_item = false;  // counted and flagged lists in `repeat`: registers[reg] of the item, not the last one
  std::int16_t reg = -1;
  std::uint16_t packing = 0;
  std::uint16_t table = 0;
  // object: the checksum that may follow version 0; 0: one always follows. A class whose own version is 0 has none.
  std::uint32_t checksum = 0;
  bool in_frame = false;    // loop: its version header was read before, for all items of a `repeat`
  bool is_bare = false;     // object: may lack its header if there is no byte count, as some hand-written streamers do
  std::uint16_t forms = 0;  // object: 1 + the index of its ClassVersions; 0: only one form
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
    hidden,  // counts items of the list with its ends in slot - 1, or of an alternative; no array
    index,   // i8 positions in the alternatives of a pointer; slot - 1 has the tags, slot + tag counts alternative tag
  };
  Kind kind = Kind::native;
  std::uint32_t number_size = 1;  // big_endian: bytes to reverse together
  std::uint32_t item_size = 1;    // bytes of one item of the whole shape
  bool is_unseen = false;         // has no column: is read, and dropped at the end
  friend bool operator==(const Slot&, const Slot&) = default;
};

// The classes to which a pointer may point; the class name in a slot decides. An object to which several slots refer is
// an item of each list, but only one item of an alternative.
struct PointerChoices {
  struct Alternative {
    std::string class_name;
    Block block;
  };
  std::vector<Alternative> alternatives;
  bool is_optional = false;  // a single possible class: a list of 0 or 1 -> slot; else tags -> slot, index -> slot + 1
  std::int32_t other = -1;   // slot of the bytes (as `slot_bytes`) of objects of other classes: the last alternative
  std::string place;         // the name of the pointer in FoundClasses
};

// The class of a TClonesArray's items is known only from its bytes.
struct ClonesChoice {
  std::string class_name;  // empty: not known yet, or...
  bool is_raw = false;     // ...shown as bytes: header and all -> slot, nothing for an empty array
  int version = 0;         // of the class, which the blocks read
  Block object_wise, member_wise;
  std::string place;
};

// A class written by several of its versions. The header of an object tells them apart: Op::block reads the main
// version, and the blocks of the others fill the same slots.
struct ClassVersions {
  struct Written {
    std::int32_t version = 0;
    std::uint32_t checksum = 0;  // used if the version in the header is 0
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
  bool needs_entry_ends = false;  // it has a `rest` that ends with the entry
  bool is_assumed = false;        // the descriptions leave the size of some items open
  bool entry_is_items = false;    // entries are items of a split collection; an empty one has no items or headers
};

// The entries of one chunk: `data`, the beginnings of all entries and the end of the last (entries + 1 offsets).
// Without offsets, the program itself finds the end of each.
struct Entries {
  std::span<const std::byte> data;
  std::span<const std::int32_t> offsets;
  std::int64_t count = 0;
  std::uint32_t origin = 0;                         // the position of byte 0 of `data`, as object tags count: fKeylen
  std::span<const std::int64_t> item_counts = {};   // for each item, if another branch counts their arrays
  std::span<const std::int32_t> displacement = {};  // for each entry, or empty (docs/format.md, "Baskets")
};

// Names of classes found in places where only the data determine the class, by place.
using FoundClasses = std::map<std::string, std::set<std::string>>;

// Runs the program over the entries only to find classes for which it has no alternative. Ends at the first failure.
FoundClasses find_classes(const Program&, const Entries&);

// Runs the program over all entries. `first` as in StreamSet::decode; empty: ends stay relative (for counting). Errors:
// damaged (an entry that does not end where it should, an impossible count), unsupported.
Result<Chunk> run_program(const Program&, const Entries&, std::span<const std::int64_t> first,
                          std::vector<std::int64_t>* items);

}  // namespace tfile
