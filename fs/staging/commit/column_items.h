// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "staging/overlay/staged_table.h"
#include "table_build/field_items.h"
#include "tfile/writer.h"

namespace tfilefs {

// A field with the columns from which its parts are encoded: `staged[i]` and `offered[i]` belong to the i-th.
// `staged[i]` is null if nothing of the column is staged (a list to which only empty ones are appended).
struct FieldColumns : FieldNesting {
  std::vector<const StagedColumn*> staged;
  std::vector<const tfile::InputColumn*> offered;
};

// Reads items of a field, which stays where it is; those in memory stay where they are, too. Blocks to read bytes in
// the journal. Errors: invalid (offsets that point beyond the staged items), io.
ReadItems staged_items(const FieldColumns&);

// The bytes of each column for the first `entries` entries of the field. Blocks. Errors: as staged_items().
Result<std::vector<std::uint64_t>> bytes_of_entries(const FieldColumns&, std::int64_t entries);

std::uint64_t item_size(const tfile::InputColumn&);

// The entries of columns that are offered together: `staged(i)` is the i-th of them. What it gives reads bytes in the
// journal, blocks, and uses both as long as it is there.
tfile::OfferedEntries staged_entries(std::function<const StagedColumn&(std::uint32_t)> staged,
                                     std::span<const tfile::InputColumn>);

// The number of complete items, staged or committed; of an offsets column the number of its lists.
std::int64_t entries_of(const StagedColumn&, const tfile::InputColumn&);
// The same for committed items.
std::int64_t committed_items(const StagedColumn&, const tfile::InputColumn&);

// For an offsets column: where list `list` begins, which is where the one before it ends. Of committed lists only the
// end of the last one is known. Blocks to read bytes in the journal. Errors: io.
Result<std::int64_t> list_begin(const StagedColumn&, std::int64_t list);

}  // namespace tfilefs
