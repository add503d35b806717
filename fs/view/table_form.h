// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/table.h"
#include "view/column_lengths.h"
#include "view/list_counts.h"

namespace tfilefs {

// What views of whole tables speak of in every other line.
using tfile::Column;
using tfile::ColumnId;
using tfile::Dtype;

// What the nodes of a table mean together, for views that describe types:
//   number    `values`, of dtype and shape
//   string    `offsets` of `values` (chars)
//   bytes     the same of raw bytes, which nobody decoded
//   list      `offsets` of fields[0], its items
//   record    `fields`, all with as many items as itself
//   variant   `fields`: the tags, the index, and the alternatives that have columns; tag k is the k-th of `classes`
//             (from 1; 0 is null) and of `alternatives`, and the index says which of its items
struct TableForm {
  enum class Kind : std::uint8_t { number, string, bytes, list, record, variant };
  static constexpr ColumnId kNone = ~ColumnId{0};

  Kind kind = Kind::number;
  bool optional = false;  // a list of 0 or 1 items that says whether there is a value, which may be optional itself
  std::string name;       // of a field: ROOT's own where that tells it from its siblings; valid UTF-8
  std::uint32_t tag = 0;  // of a variant's alternative
  ColumnId offsets = kNone, values = kNone;
  std::vector<TableForm> fields;
  std::vector<std::string> classes;  // the names of `fields`, which differ; of what has no columns those of the file
  std::vector<std::optional<std::size_t>> alternatives;  // in `fields`; none: without columns

  // Whether a columnar view shows it as null or a value. As one of a variant's alternatives, of which it has as many as
  // there are values, it stays a list.
  bool is_nullable() const { return optional && tag == 0; }
  bool is_record() const { return kind == Kind::record || kind == Kind::variant; }
  // A record of a class without members, or of such records: it has no column.
  bool is_hollow() const;
};

// What a variant's tag stands for, from 1 on; null where it has no columns.
const TableForm* alternative(const TableForm& variant, std::size_t tag);

// The name of a node's file without its type; else its directory's.
std::string_view bare_name(const tfile::Table&, const tfile::Node&);

// Whether a column is there in name alone, as its reason says: nothing was written of the items that its lists have, or
// its bytes cannot be had. Bytes that were not decoded are values.
bool has_no_values(const Column&);

// The record of all that the table has. A node that stands among the items of a list and has not as many (the undecoded
// bytes of whole entries) becomes a field of the table, named by its path; a column without values is left out, and so
// is a list of which no item is shown. `left_out`: what is left out besides, by column, or nothing.
// `hollow`: what is made of records without columns, which only text can show.
enum class Hollow : std::uint8_t { left_out, kept };
TableForm table_form(const tfile::Table&, const Contradicted& left_out = {}, Hollow hollow = Hollow::left_out);

// Items of a node at its own depth (of a record, those of its longest field); none where that cannot be known.
std::optional<std::int64_t> own_length(const TableForm&, const ColumnLengths&);

}  // namespace tfilefs
