// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "streamer/info/object_frame.h"
#include "tfile/node.h"

namespace tfile {

// The grammar of ROOT's own classes whose bytes do not follow their StreamerInfo (docs/format.md, "Classes with a
// streamer of their own"): one table for whoever compiles types, walks over objects or reads the record of a tree.
struct OwnClass {
  enum class Kind : std::uint8_t {
    tobject,           // version, fUniqueID, fBits
    tstring,           // counted string
    number,            // one of `dtype`
    array,             // n i4, then as many numbers of `dtype`
    tref,              // TObject and the number of a process id
    collection,        // frame, `head`, as many `items` as that says
    symmetric_matrix,  // frame, the members of TMatrixTBase, the upper triangle row by row
  };
  // What a collection has between its frame and its items, in order.
  enum class Field : std::uint8_t { tobject, name, item_class, size, lower_bound, process_id };
  struct HeadField {
    Field field;
    std::uint16_t since = 0;  // the version of the collection from which on it is there
  };
  enum class Items : std::uint8_t {
    pointers,
    optioned_pointers,  // each with a string behind it, since kOptionSince
    pairs,              // of pointers
    clones,   // objects of `item_class`: in turn, each behind a flag; or member by member (kBypassStreamerBit)
    numbers,  // of `dtype`
  };
  static constexpr std::uint16_t kOptionSince = 4;

  std::string_view name;
  Kind kind = Kind::tobject;
  Dtype dtype = Dtype::u1;
  Items items = Items::pointers;
  std::span<const HeadField> head = {};

  bool holds_pointers() const { return kind == Kind::collection && items <= Items::optioned_pointers; }
  bool has_options(std::uint16_t version) const { return items == Items::optioned_pointers && version >= kOptionSince; }
};

// In TObject::fBits of a TClonesArray: its items are stored member by member.
inline constexpr std::uint32_t kBypassStreamerBit = 0x1000;

// By name; nullptr for classes that the table does not have.
const OwnClass* own_class(std::string_view class_name);

// Whether objects of the class may be written by a streamer of its own, in the table or not, so that its bytes do not
// follow its description.
bool has_own_streamer(std::string_view class_name);

// TArrayC and its kin.
std::optional<Dtype> array_class_dtype(std::string_view class_name);

// The numbers of a TArray as they are stored.
std::span<const std::byte> read_array(Cursor&, Dtype);

// What stood in front of a collection's items. Texts are views into the cursor's bytes.
struct CollectionHead {
  TObjectParts tobject;
  std::string_view name, item_class;
  int item_version = 0;
  std::uint32_t count = 0;
  std::size_t count_at = 0;  // the position of the count
  std::span<const std::byte> process_id;
};
// Reads the head of a collection behind its frame. A count that cannot be is a failure; after any it is 0.
CollectionHead read_collection_head(Cursor&, const OwnClass&, std::uint16_t version);

}  // namespace tfile
