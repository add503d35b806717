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

// The most alternatives of a variant that is written, as in ROOT.
inline constexpr std::size_t kAlternativesMax = 125;

// A column of the mount as the RNTuple stores it.
struct StoredColumn {
  enum class Kind : std::uint8_t {
    numbers,
    ends,   // offsets, without the first one, which is always 0
    tags,   // with the index, which follows
    index,  // nothing of its own
  } kind = Kind::numbers;
  ColumnNumber number = 0;  // in the file
  PageEncoding encoding;
  Dtype dtype = Dtype::u1;
  std::uint64_t per_item = 1;  // elements for each item
  bool is_ends() const { return kind == Kind::ends; }
  std::uint64_t item_bytes() const { return per_item * size_of(dtype); }
};

// A field that is written: the columns of FieldForm::encoded, and what is around each.
struct StoredField {
  std::string name;
  std::vector<StoredColumn> columns;
  std::vector<std::uint32_t> lists;
  std::vector<VariantPart> variants;
  std::string lengths_of;  // the list whose lengths it shows (length_field.h): nothing of it is stored; "": others
};

// By PageColumn: the column in the file that is written, the first of several representations.
std::vector<ColumnNumber> written_columns(const FieldNodes&);

// Finds how a column of the mount is stored. `written`: those of the same nodes. Errors: unsupported (computed from
// others, or stored with a loss).
Result<StoredColumn> stored_column(const FieldNodes&, std::span<const ColumnNumber> written, ColumnId);

}  // namespace tfile
