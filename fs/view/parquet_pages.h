// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tfile/table.h"
#include "view/parquet_leaves.h"
#include "view/segments.h"

namespace tfilefs {

// What of a leaf's pages (which it must have) is not in the file already: pieces by number of the page. They may
// outlive the leaf, not the table.
std::shared_ptr<const Transform> parquet_levels(std::shared_ptr<const tfile::Table>, const ParquetLeaf&);
std::shared_ptr<const Transform> parquet_values(std::shared_ptr<const tfile::Table>, const ParquetLeaf&);

// A page that cannot be told: every read of it is this error.
std::shared_ptr<const Transform> unreadable_page(std::shared_ptr<const tfile::Error>);

// Bytes of a page's values, and where they are in the column of a leaf that is stored as it is.
std::uint64_t parquet_values_size(const tfile::Table&, const ParquetLeaf&, const Page&);
ColumnRange range_of_numbers(const tfile::Column&, ItemSpan numbers);

}  // namespace tfilefs
