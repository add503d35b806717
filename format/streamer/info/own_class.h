// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "streamer/info/object_frame.h"
#include "tfile/node.h"

namespace tfile {

// The grammar of ROOT's own classes whose bytes do not follow their StreamerInfo (docs/format.md, "Classes with a
// streamer of their own"). This one table serves the compiler of types, the walk over objects and the reader of tree
// records.
struct OwnClass {
  enum class Kind : std::uint8_t {
    tobject,           // version, fUniqueID, fBits
    tstring,           // counted string
    number,            // one number of `dtype`
    array,             // n as i4, then n numbers of `dtype`
    tref,              // TObject and the number of a process id
    collection,        // frame, the fields of `head`, then the items, whose number is in `head`
    symmetric_matrix,  // frame, the members of TMatrixTBase, the upper triangle row by row
    code_repository,   // frame, then tables of strings: n as i4, and n times so many strings
    nothing,           // no byte, not even a frame
  };
  // The fields of a collection between its frame and its items, in order.
  enum class Field : std::uint8_t { tobject, name, item_class, size, lower_bound, process_id };
  struct HeadField {
    Field field;
    std::uint16_t since = 0;  // the version of the collection that introduced it
  };
  enum class Items : std::uint8_t {
    pointers,
    optioned_pointers,  // each followed by a string, since kOptionSince
    pairs,              // of pointers
    clones,             // objects of `item_class`: each after a flag, or member by member (kBypassStreamerBit)
    numbers,            // of `dtype`
  };
  static constexpr std::uint16_t kOptionSince = 4;

  std::string_view name;
  Kind kind = Kind::tobject;
  Dtype dtype = Dtype::u1;
  Items items = Items::pointers;
  std::span<const HeadField> head = {};
  std::uint16_t name_behind = 0;  // the version since which the name lies behind the items; 0: it is in the head

  bool holds_pointers() const { return kind == Kind::collection && items <= Items::optioned_pointers; }
  bool has_options(std::uint16_t version) const { return items == Items::optioned_pointers && version >= kOptionSince; }
};

// In TObject::fBits of a TClonesArray: its items are stored member by member.
inline constexpr std::uint32_t kBypassStreamerBit = 0x1000;

// By name; nullptr for classes that are not in the table.
const OwnClass* own_class(std::string_view class_name);

// Whether objects of the class may be written by a hand-written streamer, in the table or not, so that their bytes do
// not follow the description of the class. `version`: of that description, if it is known.
bool has_own_streamer(std::string_view class_name, int version = 0);

// The dtype of TArrayC and similar classes; nullopt for other classes.
std::optional<Dtype> array_class_dtype(std::string_view class_name);

// The numbers of a TArray, as stored.
std::span<const std::byte> read_array(Cursor&, Dtype);

// The items of a TClonesArray, as its header says it: "TF1;7".
struct ClonesItem {
  std::string_view class_name;
  int version = 0;
  // A view of `text`.
  static ClonesItem parsed(std::string_view text);
  std::string text() const { return std::string(class_name) + ";" + std::to_string(version); }
};

// The bytes before a collection's items. Strings are views into the cursor's bytes.
struct CollectionHead {
  TObjectParts tobject;
  std::string_view name;
  ClonesItem items;
  std::uint32_t count = 0;
  std::size_t count_at = 0;  // the position of the count
  std::span<const std::byte> process_id;
};
// Reads the head of a collection, after its frame. An impossible count is a failure; after any failure the count is 0.
CollectionHead read_collection_head(Cursor&, const OwnClass&, std::uint16_t version);

}  // namespace tfile
