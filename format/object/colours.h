// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "object/object_members.h"

namespace tfile {

// What colours ROOT's numbers mean: its own, and those that a canvas was saved with.
class Palette {
 public:
  // `list`: a TObjArray of TColor.
  void add(const ObjectMembers& list);
  // 0xRRGGBB; nothing for numbers that stand for none.
  std::optional<std::uint32_t> colour(std::int64_t number) const;

 private:
  std::map<std::int64_t, std::uint32_t> own_;
};

}  // namespace tfile
