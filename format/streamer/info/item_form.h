// SPDX-License-Identifier: Apache-2.0
// The form of items and parts whose bytes do not follow from their type alone (docs/format.md, "Collections").
#pragma once

#include <cstdint>
#include <optional>

#include "streamer/info/streamer_info.h"
#include "streamer/info/type_name.h"
#include "tfile/node.h"

namespace tfile {

// An enumeration has no StreamerInfo, and neither has a class of which no object was written. So a type is an
// enumeration if the file uses it as one, or if `undescribed` says that types without a description are. Returns the
// element type of its own numbers, 0 if unknown.
std::optional<int> enumeration(const StreamerInfos&, const TypeName&, bool undescribed);

// The place of an item of a collection; it decides how long an enumeration is.
enum class ItemIn : std::uint8_t {
  own_header,     // a collection with a header of its own
  shared_header,  // one of several collections behind one header
  inner,          // a collection without a header
};

struct EnumItem {
  Dtype dtype = Dtype::i4;
  bool is_certain = true;  // else the bytes decide whether it is as long as that
};
// The number that an item of `collection` is stored as; `own` is what `enumeration` returned. nullopt: ROOT does not
// store all items.
std::optional<EnumItem> enum_item(int own, const TypeName& collection, ItemIn);
// The same for what is not in a sequence.
EnumItem enum_item(int own);

// The description of a part of a pair that is an enumeration or an array: numbers, or an object. nullptr: the part is
// neither, or the file does not describe the pair.
const StreamerElement* pair_part(const StreamerInfos&, const TypeName& first, const TypeName& second, std::size_t part,
                                 bool undescribed);

// Whether the file describes the pair without this part: ROOT leaves out an enumeration of more than 4 bytes, which it
// then writes no bytes of.
bool is_left_out_of_pair(const StreamerInfos&, const TypeName& first, const TypeName& second, std::size_t part);

// The description of a std::array, which is an object of one member in a collection or pair; nullptr if there is none.
const StreamerInfo* array_class(const StreamerInfos&, const TypeName&);

}  // namespace tfile
