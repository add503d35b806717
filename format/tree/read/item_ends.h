// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace tfile {

// The ends of lists in items, from `base` on, computed from their ends in bytes. `ends` has room for all. `item_size` >
// 0. False: a list is not a whole number of items.
bool item_ends(std::span<const std::int32_t> byte_ends, std::int32_t item_size, std::int64_t base, std::int64_t* ends);

// Whether `ends` holds these numbers. Both sequences ascend.
bool are_item_ends(std::span<const std::int32_t> byte_ends, std::int32_t item_size, std::int64_t base,
                   std::span<const std::int64_t> ends);

}  // namespace tfile
