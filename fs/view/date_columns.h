// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cache/cluster_cache.h"
#include "view/column_lengths.h"
#include "view/table_form.h"

namespace tfilefs {

// The columns of dates.
struct DateColumns {
  DateColumns(const tfile::Table&, const TableForm&);

  tfile::DateKind kind;
  std::vector<const Column*> columns;  // of the table
};

// The value in its place in a columnar file: seconds of a TDatime, nanoseconds of a TTimeStamp. `items`: bytes of each
// column, from one item on. Nothing if the item is no date.
std::optional<std::int64_t> date_at(tfile::DateKind, std::span<const std::string_view> items, std::size_t item);

// Counts the values of a column of TDatimes that are no dates, which takes all of it. If a part of it is damaged, there
// may be more: it counts as one. Errors: those of reading.
void count_no_dates(const std::shared_ptr<CachedStreams>&, const std::shared_ptr<const tfile::Table>&, ColumnId,
                    std::int64_t length, Reply<std::int64_t>);

}  // namespace tfilefs
