// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "tfile/table.h"
#include "view/date_columns.h"
#include "view/segments.h"

namespace tfilefs {

// Rows that each have one item of a column or none, as lists of 0 or 1 say (their offsets columns). These may be the
// items of such lists again, outermost first. Without any lists, row i has item i.
struct OptionalRows {
  struct Lists {
    ColumnRange offsets;  // only to identify the column
    std::int64_t count = 0;
  };
  std::int64_t count = 0;
  std::vector<Lists> lists;
  std::int64_t items = std::numeric_limits<std::int64_t>::max();  // as many as there are; rows beyond have none

  void step_into(const tfile::Column& offsets, std::int64_t count);
};

// Each appends the data of all rows in a form in which none may be missing, with zeros for rows without an item; it is
// made when it is read. Errors then: damaged (a list of more than 1), and those of reading.

// A bit per row: whether it has an item.
void add_presence(Segments&, const OptionalRows&);
// The items; booleans (of any shape) as bits.
void add_rows(Segments&, const OptionalRows&, const tfile::Column&);
void add_bit_rows(Segments&, const OptionalRows&, const tfile::Column&);
// If the items are lists: their offsets, one more than there are rows.
void add_row_offsets(Segments&, const OptionalRows&, const tfile::Column& offsets);
// Dates, as add_rows; and a bit per row: whether it has an item that is a date.
void add_dates(Segments&, const OptionalRows&, const DateColumns&);
void add_date_presence(Segments&, const OptionalRows&, const DateColumns&);
// The number of each row's item, or -1, in eight bytes.
void add_item_numbers(Segments&, const OptionalRows&);

}  // namespace tfilefs
