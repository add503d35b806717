// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "array/parquet.h"
#include "view/column_lengths.h"
#include "view/pages.h"
#include "view/table_form.h"

namespace tfilefs {

// A leaf of a Parquet schema: where its values are, and how the file stores them.
struct ParquetLeaf {
  std::vector<std::string> path;
  ParquetElement::Type type = ParquetElement::Type::byte_array;
  bool verbatim = false;  // values are stored as in the column
  tfile::ColumnId values = 0;
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

}  // namespace tfilefs
