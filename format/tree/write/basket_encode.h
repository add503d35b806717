// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tree/write/branch_form.h"
#include "tree/write/tree_writer.h"

namespace tfile {

// The largest value of a branch that counts others; the greatest length of texts; 0 for other branches.
struct BasketNotes : PartNotes {
  std::int64_t largest = 0;
};

// Encodes one basket (docs/format.md, "Baskets"), compressed: key, header, and entries `entries` of `branch`. `columns`
// as in TableWriter::encode. The notes are BasketNotes. Pure; for any thread. Errors: invalid, with the entry;
// no_space.
Result<Part> encode_basket(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                           std::span<const std::span<const std::byte>> columns);

// Writes the address of a basket into its key.
void put_basket_address(Part& basket, std::uint64_t address);

// fKeylen of a basket whose key has that name and title.
std::size_t basket_keylen(std::string_view branch_name, std::string_view title);

}  // namespace tfile
