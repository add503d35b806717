// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "staging/staged_table.h"
#include "tfile/writer.h"

namespace tfilefs {

// The staged items that one basket is made of, as TableWriter::encode wants them, and what keeps them alive.
struct ColumnItems {
  std::vector<std::span<const std::byte>> columns;
  std::vector<std::shared_ptr<const void>> pins;
  std::uint64_t bytes = 0;  // of all columns
};

// A branch with its columns: `staged[i]` and `offered[i]` belong to the i-th; null where nothing of it is staged (a
// list to which only empty ones are appended).
struct BranchColumns {
  std::vector<const StagedColumn*> staged;
  std::vector<const tfile::OfferedColumn*> offered;
};

// The items of entries [entries.begin, entries.end). Blocks for what is in the journal. Errors: invalid (offsets that
// point beyond what is staged), io.
Result<ColumnItems> items_of(const BranchColumns&, tfile::EntryRange entries);

// The bytes of each column that make the first `entries` entries of the branch. Blocks. Errors: as items_of.
Result<std::vector<std::uint64_t>> bytes_of_entries(const BranchColumns&, std::int64_t entries);

std::uint64_t item_size(const tfile::OfferedColumn&);

// Items that are staged or committed, whole ones; of an offsets column the lists they tell.
std::int64_t entries_of(const StagedColumn&, const tfile::OfferedColumn&);

}  // namespace tfilefs
