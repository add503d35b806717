// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "tree/read/stream.h"
#include "tree/record/tree_record.h"

namespace tfile {

// The basket of that number if it is in the tree's own record, else nullptr.
const EmbeddedBasket* embedded_basket(const BranchStorage&, std::uint32_t index);

// The data of a basket, which must have `entries_told` entries, as the branch says. The source of the data must outlive
// the result. Errors: damaged; those of read_basket.
Result<BasketData> embedded_data(const EmbeddedBasket&, std::int64_t entries_told);
Result<BasketData> stored_basket(std::span<const std::byte> stored, std::int64_t entries_told);

Error wrong_entries(std::int64_t told_by_basket, std::int64_t told_by_branch);

}  // namespace tfile
