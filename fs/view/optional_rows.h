// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "tfile/table.h"
#include "view/segments.h"

namespace tfilefs {

// Rows each of which has one item of a column or none: those of lists of 0 or 1 (their offsets columns), which may be
// the items of such lists again, outermost first. Without any, row i has item i.
struct OptionalRows {
  struct Lists {
    ColumnRange offsets;  // only what says which column it is
    std::int64_t count = 0;
  };
  std::int64_t count = 0;
  std::vector<Lists> lists;
  std::int64_t items = std::numeric_limits<std::int64_t>::max();  // as many as there are; further rows have none

  void step_into(const tfile::Column& offsets, std::int64_t count);
};

// Each appends what stands for all rows where none may be missing, zeros for those without an item; it is made when it
// is read. Errors then: damaged (a list of more than 1), and those of reading.

// A bit for each row: whether there is an item.
void add_presence(Segments&, const OptionalRows&);
// The items; of booleans (whatever their shape) as bits.
void add_rows(Segments&, const OptionalRows&, const tfile::Column&);
void add_bit_rows(Segments&, const OptionalRows&, const tfile::Column&);
// Where the items are lists: their offsets, one more than there are rows.
void add_row_offsets(Segments&, const OptionalRows&, const tfile::Column& offsets);
// For each row the number of its item, or -1, in eight bytes.
void add_item_numbers(Segments&, const OptionalRows&);

}  // namespace tfilefs
