// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/writer.h"
#include "tree/write/basket_head.h"

namespace tfile {

// Baskets made of entries of other baskets. What the bytes of an entry mean is not looked at. All functions are pure,
// and callable from any thread.

// The common form of the baskets of a branch.
struct CutForm {
  std::string branch_name, title;  // of the key
  bool has_offsets = false;        // an entry has any size
  // An entry may contain objects that refer to places in their basket. If such an entry moves, the basket tells where
  // it was (fDisplacement).
  bool has_places = false;
};

// A basket, or one inside a tree's record, and the entries that are taken of it.
struct TakenEntries {
  std::span<const std::byte> data;
  std::span<const std::int32_t> offsets;       // of entries in the data, and the end; none: they have one size
  std::span<const std::int32_t> displacement;  // as in BasketContent
  std::int64_t entries = 0;
  std::uint32_t keylen = 0;
  std::vector<EntryRange> taken;
};

// One basket of all these entries, compressed. Errors: damaged (entries of one size that do not fill the data),
// unsupported (above 1 GiB), no_space.
Result<Part> cut_basket(const CutForm&, const TreePlace&, std::span<const TakenEntries>);

// The same basket, compressed anew. Its key stays, but for the sizes. Errors: damaged, no_space.
Result<Part> recompress_basket(std::span<const std::byte> stored, const Compression&);

}  // namespace tfile
