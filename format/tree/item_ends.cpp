// SPDX-License-Identifier: Apache-2.0
#include "tree/item_ends.h"

#include <bit>

namespace tfile {

// Nearly all items are of 1, 2, 4 or 8 bytes, and a division for each list costs more than all else about it.
bool item_ends(std::span<const std::int32_t> byte_ends, std::int32_t item_size, std::int64_t base, std::int64_t* ends) {
  std::int32_t rest = 0;
  if (const auto size = static_cast<std::uint32_t>(item_size); std::has_single_bit(size)) {
    const int shift = std::countr_zero(size);
    for (const std::int32_t end : byte_ends) {
      rest |= end & (item_size - 1);
      *ends++ = base + (end >> shift);
    }
  } else {
    for (const std::int32_t end : byte_ends) {
      rest |= end % item_size;
      *ends++ = base + end / item_size;
    }
  }
  return rest == 0;
}

}  // namespace tfile
