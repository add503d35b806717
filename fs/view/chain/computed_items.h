// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "content.h"
#include "view/chain/chain_schema.h"

namespace tfilefs {

// Items of a column that are not in its file as the chain shows them: which bytes of the file they are made of, and
// how.

// Whole numbers that cover a range of bytes.
struct NumberRange {
  std::uint64_t first = 0, count = 0;
};
NumberRange numbers_covering(std::uint64_t begin, std::uint64_t end, std::size_t number_size);

// Numbers of a file may be anything, so sums wrap around.
inline std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// The items to make: bytes [begin, end) of those that a file brings into `column`.
struct ItemsWanted {
  const tfile::Column* column = nullptr;
  std::uint64_t begin = 0, end = 0;
  std::size_t file = 0;
  std::vector<std::int64_t> before;  // of ChainColumn::held: how many items the files before this one bring
};

// `inputs`: the bytes of the numbers that cover the range, of ItemSource::column (of ends: those behind the leading 0)
// and of its tags, as far as it has them.
Slices computed_items(const ItemSource&, const ItemsWanted&, std::span<const std::string_view> inputs);

// Adds the same to each of these numbers.
void shift_numbers(std::span<std::byte>, std::int64_t by);

}  // namespace tfilefs
