// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "staging/overlay/staged_table.h"
#include "tfile/writer.h"

namespace tfilefs {

// The staged items that one part is made of, as TableWriter::encode wants them, and what keeps them alive.
struct ColumnItems {
  std::vector<std::span<const std::byte>> columns;
  std::vector<std::shared_ptr<const void>> pins;
  std::uint64_t bytes = 0;  // of all columns
};

// A field with the columns that its parts are encoded from: `staged[i]` and `offered[i]` belong to the i-th; null where
// nothing of it is staged (a list to which only empty ones are appended).
struct FieldColumns {
  std::vector<const StagedColumn*> staged;
  std::vector<const tfile::OfferedColumn*> offered;
};

// The items of entries [entries.begin, entries.end). Blocks for what is in the journal. Errors: invalid (offsets that
// point beyond what is staged), io.
Result<ColumnItems> items_of(const FieldColumns&, tfile::EntryRange entries);

// The bytes of each column that make the first `entries` entries of the field. Blocks. Errors: as items_of.
Result<std::vector<std::uint64_t>> bytes_of_entries(const FieldColumns&, std::int64_t entries);

std::uint64_t item_size(const tfile::OfferedColumn&);

// Items that are staged or committed, whole ones; of an offsets column the lists they tell.
std::int64_t entries_of(const StagedColumn&, const tfile::OfferedColumn&);
// The same of those that are committed.
std::int64_t committed_items(const StagedColumn&, const tfile::OfferedColumn&);

// Of an offsets column: where list `list` begins, which is where the one before it ends. Committed lists have only the
// end of the last. Blocks for what is in the journal. Errors: io.
Result<std::int64_t> list_begin(const StagedColumn&, std::int64_t list);

}  // namespace tfilefs
