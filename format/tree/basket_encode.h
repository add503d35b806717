// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "tree/branch_form.h"
#include "tree/tree_writer.h"

namespace tfile {

// One basket (docs/format.md, "Baskets"): key, header, and entries `entries` of `branch` from `columns`, as
// TableWriter::encode says, compressed. Pure; any thread. Errors: invalid, with the entry; no_space.
Result<Basket> encode_basket(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                             std::span<const std::span<const std::byte>> columns);

// fKeylen of a basket whose key has that name and title.
std::size_t basket_keylen(std::string_view branch_name, std::string_view title);

}  // namespace tfile
