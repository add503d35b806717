// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bytes/cursor.h"

namespace tfile {

// The bytes before every streamed object and in every pointer slot (docs/format.md, "Object streaming"). These
// functions report failure as the cursor does: the first error sticks.

// In TObject::fBits: two bytes of process id follow.
inline constexpr std::uint32_t kIsReferencedBit = 0x10;

// In pointer slots: a byte count follows; this is a class tag; the class follows by name, for the first time.
inline constexpr std::uint32_t kByteCountBit = 0x40000000, kClassBit = 0x80000000, kNewClass = 0xFFFFFFFF;
inline constexpr std::uint32_t kTagOffset = 2;  // ROOT's kMapOffset: added to positions, so that no tag is 0 (null)

// The version header of an object.
struct Frame {
  std::uint16_t version = 0;
  bool member_wise = false;    // of collections: stored member by member over all items
  std::uint32_t checksum = 0;  // instead of version 0, for classes without ClassDef
  bool counted = false;        // the header gives the end of the object
  std::size_t end = 0;         // this end, as a position of the cursor; 0 if not counted
};

// Reads a version header. The end of a counted object lies inside the cursor's bytes.
Frame read_frame(Cursor&);

// Moves to the end of a counted object, however much of it was read; else does nothing. If the cursor is past the end,
// that is a failure.
void leave_frame(Cursor&, const Frame&);

// The parts of a TObject as stored; empty if they are absent.
struct TObjectParts {
  std::span<const std::byte> unique_id, bits;  // u4 each
  std::span<const std::byte> process_id;       // u2; only for an object that is referenced
  std::uint32_t flags = 0;                     // the number in `bits`
};
// Reads a TObject with its version, which may have a byte count.
TObjectParts read_tobject(Cursor&);
// Reads fBits of a split TObject, and the process id that may follow.
TObjectParts read_object_bits(Cursor&);

struct NamedText {
  std::string_view name, title;
};
NamedText read_tnamed(Cursor&);

// A pointer slot: null, a reference to an earlier object, or an object, which follows.
struct ObjectTag {
  enum class Kind : std::uint8_t { null, reference, object } kind = Kind::null;
  std::uint32_t identity = 0;   // the same number for an object and all references to it
  std::string_view class_name;  // of an object that follows; a view into the cursor's bytes
  bool counted = false;
  std::size_t end = 0;  // position after the object; 0 if not counted
};

// `origin`: the position of byte 0 of the cursor's bytes as counted in tags. Tags count from the start of the key, so
// it is fKeylen for a payload. `displacement` is added to class positions in tags (baskets whose entries were moved,
// docs/format.md "Baskets"). A class tag that does not lead to a class name is a failure.
ObjectTag read_object_tag(Cursor&, std::uint32_t origin, std::int32_t displacement = 0);

}  // namespace tfile
