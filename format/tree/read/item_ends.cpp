// SPDX-License-Identifier: Apache-2.0
#include "tree/read/item_ends.h"

#include <bit>

namespace tfile {

// Nearly all items have 1, 2, 4 or 8 bytes. A division per list would cost more than everything else.
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

bool are_item_ends(std::span<const std::int32_t> byte_ends, std::int32_t item_size, std::int64_t base,
                   std::span<const std::int64_t> ends) {
  if (ends.size() != byte_ends.size()) return false;
  if (ends.empty()) return true;
  // None is larger than the last. Its product with item_size fits, so all products do.
  if ((ends.back() - base) * item_size != byte_ends.back() || ends.front() < base) return false;
  std::int32_t differs = 0;
  for (std::size_t i = 0; i < ends.size(); ++i)
    differs |= static_cast<std::int32_t>(ends[i] - base) * item_size ^ byte_ends[i];
  return differs == 0;
}

}  // namespace tfile
