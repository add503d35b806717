// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "object/object_members.h"

namespace tfile {

// The colours of ROOT's colour numbers: the predefined ones, and those saved with a canvas.
class Palette {
 public:
  // `list`: a TObjArray of TColor.
  void add(const ObjectMembers& list);
  // 0xRRGGBB; nullopt for a number without a colour.
  std::optional<std::uint32_t> colour(std::int64_t number) const;

 private:
  std::map<std::int64_t, std::uint32_t> own_;
};

}  // namespace tfile
