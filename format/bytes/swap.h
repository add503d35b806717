// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace tfile {

// Reverses the bytes of each item, in place or from one buffer into another of equal size (no overlap). `item_size` is
// 1, 2, 4 or 8 and divides the size. Runs at memory speed if the processor has AVX2.
void swap_items(std::span<std::byte> items, std::size_t item_size);
void swap_items(std::span<const std::byte> from, std::byte* to, std::size_t item_size);

}  // namespace tfile
