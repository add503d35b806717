// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tfile/table.h"
#include "view/parquet_leaves.h"
#include "view/segments.h"

namespace tfilefs {

// The data of a leaf's pages (which it must have) that are not stored in the columns in that form: pieces by number of
// the page. They may outlive the leaf, but not the table.
std::shared_ptr<const Transform> parquet_levels(std::shared_ptr<const tfile::Table>, const ParquetLeaf&);
std::shared_ptr<const Transform> parquet_values(std::shared_ptr<const tfile::Table>, const ParquetLeaf&);

// A page with unknown contents: every read of it gives this error.
std::shared_ptr<const Transform> unreadable_page(std::shared_ptr<const tfile::Error>);

// Bytes of a page's values; and where they lie in the column of a leaf that is stored as it is.
std::uint64_t parquet_values_size(const tfile::Table&, const ParquetLeaf&, const Page&);
ColumnRange range_of_numbers(const tfile::Column&, ItemSpan numbers);

}  // namespace tfilefs
