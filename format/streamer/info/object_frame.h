// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bytes/cursor.h"

namespace tfile {

// What stands in front of every streamed object and in every pointer slot (docs/format.md, "Object streaming"). These
// functions report failure as the cursor does: its error sticks.

// In TObject::fBits: two bytes of process id follow.
inline constexpr std::uint32_t kIsReferencedBit = 0x10;

// In pointer slots: a byte count; a class tag; the class tag of a class that was not met before.
inline constexpr std::uint32_t kByteCountBit = 0x40000000, kClassBit = 0x80000000, kNewClass = 0xFFFFFFFF;
inline constexpr std::uint32_t kTagOffset = 2;  // ROOT's kMapOffset: tags are positions and this, so none is 0 (null)

// The version header of an object.
struct Frame {
  std::uint16_t version = 0;
  bool member_wise = false;    // collections: member by member over all items
  std::uint32_t checksum = 0;  // in place of version 0, for classes without ClassDef
  bool counted = false;        // the header tells where the object ends
  std::size_t end = 0;         // that place, a position of the cursor; 0 if not counted
};

// Reads a version header. A counted end lies inside the cursor's bytes.
Frame read_frame(Cursor&);

// To the end of a counted object, whatever of it was read; elsewhere nothing. Having read beyond it is a failure.
void leave_frame(Cursor&, const Frame&);

// The parts of a TObject as they are stored; empty where they are not there.
struct TObjectParts {
  std::span<const std::byte> unique_id, bits;  // u4 each
  std::span<const std::byte> process_id;       // u2, of an object that is referenced
  std::uint32_t flags = 0;                     // the number in `bits`
};
// Its version stands in front, with a byte count or without.
TObjectParts read_tobject(Cursor&);
// fBits of a split TObject, and what belongs to it.
TObjectParts read_object_bits(Cursor&);

struct NamedText {
  std::string_view name, title;
};
NamedText read_tnamed(Cursor&);

// A pointer slot: nothing, an object that was met before, or the object itself, which follows.
struct ObjectTag {
  enum class Kind : std::uint8_t { null, reference, object } kind = Kind::null;
  std::uint32_t identity = 0;   // the same number for the object and every reference to it
  std::string_view class_name;  // of an object that follows; a view into the cursor's bytes
  bool counted = false;
  std::size_t end = 0;  // position behind the object; 0 if not counted
};

// `origin`: what byte 0 of the cursor's bytes counts as in tags; they count from the start of the key, so it is fKeylen
// for a payload. `displacement` is added to class positions that tags name (baskets whose entries were moved,
// docs/format.md "Baskets"). A class tag that does not lead to a class name is a failure.
ObjectTag read_object_tag(Cursor&, std::uint32_t origin, std::int32_t displacement = 0);

}  // namespace tfile
