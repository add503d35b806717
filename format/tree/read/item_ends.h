// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace tfile {

// The ends of lists, in items from `base` on, from their ends in bytes; `ends` has room for as many. `item_size` > 0.
// False: an end is not a whole number of items.
bool item_ends(std::span<const std::int32_t> byte_ends, std::int32_t item_size, std::int64_t base, std::int64_t* ends);

// Whether that is what `ends` holds. Both ascend.
bool are_item_ends(std::span<const std::int32_t> byte_ends, std::int32_t item_size, std::int64_t base,
                   std::span<const std::int64_t> ends);

}  // namespace tfile
