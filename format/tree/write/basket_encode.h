// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tfile/writer.h"
#include "tree/write/basket_head.h"
#include "tree/write/branch_form.h"

namespace tfile {

// Encodes one basket (docs/format.md, "Baskets"), compressed: key, header, and entries `entries` of `branch`. `columns`
// as in TableWriter::encode. Pure; for any thread. Errors: invalid, with the entry;
// no_space.
Result<Part> encode_basket(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                           std::span<const std::span<const std::byte>> columns);

}  // namespace tfile
