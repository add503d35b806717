// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bytes/payload_bytes.h"
#include "streamer/info/streamer_info.h"
#include "streamer/walk/object_visitor.h"
#include "tfile/result.h"

namespace tfile {

// Reads the object of a key from its decompressed payload by the streamer infos, and reports it to `visitor`, in the
// form of ROOT's JSON (docs/format.md, "Objects as values"): members of bases are among those of the class, collections
// have `name` and `arr`, STL collections and TArrays are lists, strings are text.
//
// A part that cannot be read (a class that the file does not describe, damage), but whose end is known, is reported as
// unread. Errors: unsupported or damaged if not even the object itself could be read; nothing was then reported.
// Allocates nothing for claims without bytes. Recursion and work are bounded by the size of the payload. `keylen`:
// fKeylen of the key; references count from its start.
Result<> visit_object(const StreamerInfos& infos, std::string_view class_name, std::span<const std::byte> payload,
                      std::uint32_t keylen, ObjectVisitor& visitor);

// The same of a payload of which only the bytes that are wanted are there; those of arrays may be missing.
Result<> visit_object(const StreamerInfos& infos, std::string_view class_name, const PayloadBytes& payload,
                      std::uint32_t keylen, ObjectVisitor& visitor);

// Whether `class_name` is `base` or derives from it, according to the infos.
bool derives_from(const StreamerInfos& infos, std::string_view class_name, std::string_view base);

}  // namespace tfile
