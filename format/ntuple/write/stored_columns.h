// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ntuple/column_type.h"
#include "ntuple/field_nodes.h"
#include "ntuple/schema_records.h"
#include "tfile/writer.h"

namespace tfile {

// A column of the mount as the RNTuple stores it.
struct StoredColumn {
  ColumnNumber number = 0;  // in the file
  PageEncoding encoding;
  bool is_ends = false;        // offsets: without the first one, which is always 0
  Dtype dtype = Dtype::u1;     // of others
  std::uint64_t per_item = 1;  // elements for each item
  std::uint64_t item_bytes() const { return per_item * size_of(dtype); }
};

// A field that is written: the columns of FieldForm::encoded, and the lists around each.
struct StoredField {
  std::string name;
  std::vector<StoredColumn> columns;
  std::vector<std::uint32_t> lists;
};

// By PageColumn: the column in the file that is written, the first of several representations.
std::vector<ColumnNumber> written_columns(const FieldNodes&);

// Finds how a column of the mount is stored. `written`: those of the same nodes. Errors: unsupported (computed from
// others, or stored with a loss).
Result<StoredColumn> stored_column(const FieldNodes&, std::span<const ColumnNumber> written, ColumnId);

}  // namespace tfile
