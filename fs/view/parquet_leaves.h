// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "array/parquet.h"
#include "tfile/table.h"
#include "view/column_lengths.h"
#include "view/pages.h"
#include "view/segments.h"
#include "view/table_form.h"

namespace tfilefs {

// A leaf of a Parquet schema: where its values are, and how the file stores them.
struct ParquetLeaf {
  std::vector<std::string> path;
  ParquetElement::Type type = ParquetElement::Type::byte_array;
  bool verbatim = false;  // values are stored as in the column
  tfile::ColumnId values = 0;
  std::vector<tfile::ColumnId> dates;  // if the values are dates: their columns
  tfile::DateKind date = tfile::DateKind::none;
  PageShape shape;
  LeafPagesPtr pages;  // null before it is cut
};

struct ParquetLeaves {
  std::vector<ParquetElement> elements;  // depth first, the root first
  std::vector<ParquetLeaf> leaves;
};

// The schema of a table of `rows` rows. Rows beyond the end of a shorter column are null, and lists of 0 or 1 are
// values that may be null. A variant, which Parquet does not have, is the record of its tags, index and alternatives.
ParquetLeaves parquet_leaves(const tfile::Table&, const TableForm&, const ColumnLengths&, std::int64_t rows);

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
