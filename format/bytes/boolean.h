// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace tfile {

// A bool that was never set may be stored as any byte. ROOT reads every byte but 0 as true. numpy takes the byte as it
// is, so it must become 0 or 1.
inline void normalize_booleans(std::span<std::byte> booleans) {
  for (std::byte& b : booleans) b = std::byte{b != std::byte{0}};
}

}  // namespace tfile
