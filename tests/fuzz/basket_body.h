// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "fuzz/stream_body.h"
#include "tree/record/basket.h"

namespace tfile::fuzz {

// Reads the bytes as the record of a basket.
inline void basket_body(std::span<const std::byte> bytes) {
  if (const auto header = read_basket_header(bytes, bytes.size())) {
    require(header->nbytes <= bytes.size(), "a header's record is no longer than what is stored");
    require(header->border() <= header->objlen, "data end within the payload");
  }
  const auto basket = read_basket(bytes);
  if (!basket) return;
  const std::uint32_t border = basket->header.border();
  require(basket->bytes.size() == basket->header.objlen && border <= basket->header.objlen,
          "data end within the payload");
  if (basket->has_offsets) {
    const auto& offsets = basket->offsets;
    require(offsets.size() == static_cast<std::size_t>(basket->header.entries) + 1, "one more offset than entries");
    require(std::is_sorted(offsets.begin(), offsets.end()) && offsets.front() >= 0, "offsets never fall");
    require(static_cast<std::uint32_t>(offsets.back()) == border, "the last offset is the end of the data");
  }
}

}  // namespace tfile::fuzz
