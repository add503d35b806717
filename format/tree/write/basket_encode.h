// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tree/write/branch_form.h"
#include "tree/write/tree_writer.h"

namespace tfile {

// Of a branch that counts others the largest value, of texts the greatest length; 0 of others.
struct BasketNotes : PartNotes {
  std::int64_t largest = 0;
};

// One basket (docs/format.md, "Baskets"): key, header, and entries `entries` of `branch` from `columns`, as
// TableWriter::encode says, compressed; its notes are BasketNotes. Pure; any thread. Errors: invalid, with the entry;
// no_space.
Result<Part> encode_basket(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                           std::span<const std::span<const std::byte>> columns);

// Writes its address into a basket's key.
void put_basket_address(Part& basket, std::uint64_t address);

// fKeylen of a basket whose key has that name and title.
std::size_t basket_keylen(std::string_view branch_name, std::string_view title);

}  // namespace tfile
