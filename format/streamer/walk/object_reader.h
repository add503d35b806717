// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "streamer/info/streamer_info.h"
#include "streamer/walk/object_visitor.h"
#include "tfile/result.h"

namespace tfile {

// Reads the object of a key from its decompressed payload by the streamer infos, and tells `visitor` of it. What is
// told is what ROOT's JSON shows (docs/format.md, "Objects as values"): the members of bases stand among those of the
// class, collections have `name` and `arr`, STL collections and TArrays are lists, strings are text.
//
// A part that cannot be read (a class that the file does not describe, damage) but whose end is known is told as
// unread. Errors: unsupported or damaged, when not even the object itself could be read; the visitor was told of
// nothing then. Takes no memory for what is claimed but not there; recursion and work are bounded by the size of the
// payload. `keylen`: fKeylen of the key; references count from its start.
Result<> visit_object(const StreamerInfos& infos, std::string_view class_name, std::span<const std::byte> payload,
                      std::uint32_t keylen, ObjectVisitor& visitor);

// Whether `class_name` is `base` or derived from it, as far as the infos tell.
bool derives_from(const StreamerInfos& infos, std::string_view class_name, std::string_view base);

}  // namespace tfile
