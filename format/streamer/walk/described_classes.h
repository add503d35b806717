// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/result.h"

namespace tfile {

// The classes that a walk over the object of a key finds.
struct ObjectClasses {
  std::vector<const StreamerInfo*> infos;  // the descriptions that the walk needs, those of bases and members too
  std::set<std::string> names;             // of all objects in it
  bool names_itself = false;               // its JSON names its class
  bool is_whole = false;                   // every part of it could be read
  bool has_references = false;             // some of these refer to what came before, counted from the start of the key
};

// Never fails: what cannot be read, tells nothing. `keylen`: as in visit_object.
ObjectClasses object_classes(const StreamerInfos&, std::string_view class_name, std::span<const std::byte> payload,
                             std::uint32_t keylen);

// Whether the walk finds what the references in the payload refer to, if they count from the start of a key of that
// length. Without references any length will do.
bool fits_key(const StreamerInfos&, std::string_view class_name, std::span<const std::byte> payload,
              std::uint32_t keylen);

}  // namespace tfile
