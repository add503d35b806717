// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/part_sizes.h"
#include "tfile/writer.h"
#include "tree/write/basket_head.h"
#include "tree/write/branch_form.h"

namespace tfile {

// Encodes one basket (docs/format.md, "Baskets"), compressed: key, header, and entries `entries` of `branch`. `columns`
// as in TableWriter::encode. Pure; for any thread. Errors: invalid, with the entry;
// no_space.
Result<Part> encode_basket(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                           std::span<const std::span<const std::byte>> columns);

// The part of a field for these entries: one basket; of records one for their number and one for each member, which are
// its units, in this order.
Result<Part> encode_baskets(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                            std::span<const std::span<const std::byte>> columns);

// The entries of a basket of about 128 KiB: a power of two; 0: unknown. Pure.
std::int64_t basket_entries(const EntryBytes&);

// fBasketSize for baskets of `entries` entries, rounded as in ROOT's OptimizeBaskets. Pure.
std::int32_t basket_buffer_size(const EntryBytes&, std::int64_t entries);

}  // namespace tfile
