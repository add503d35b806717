// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/table.h"
#include "view/column_lengths.h"

namespace tfilefs {

// Names that views of whole tables use in every other line.
using tfile::Column;
using tfile::ColumnId;
using tfile::Dtype;

// How the nodes of a table belong together, for views that describe types:
//   number    `values`, of dtype and shape
//   string    `offsets` of `values` (chars)
//   bytes     the same of raw bytes, which are not decoded
//   list      `offsets` of fields[0], its items
//   record    `fields`, all with as many items as itself; of a date (TTimeStamp) its seconds and nanoseconds
//   variant   `fields`: the tags, the index, and the alternatives that have columns; tag k is the k-th of `classes`
//             (from 1; 0 is null) and of `alternatives`, and the index says which of its items
struct TableForm {
  enum class Kind : std::uint8_t { number, string, bytes, list, record, variant };
  static constexpr ColumnId kNone = ~ColumnId{0};

  Kind kind = Kind::number;
  bool optional = false;  // a list of 0 or 1 items that says whether there is a value, which may be optional itself
  std::string name;       // of a field: ROOT's own if it differs from those of its siblings; valid UTF-8
  std::uint32_t tag = 0;  // of a variant's alternative
  tfile::DateKind date = tfile::DateKind::none;  // of a number, or a record: it is one value, a date
  std::int64_t no_dates = 0;                     // of datime, in columnar views: how many values are none
  ColumnId offsets = kNone, values = kNone;
  std::vector<TableForm> fields;
  std::vector<std::string> classes;  // the names of `fields`, which differ; without columns, the name in the file
  std::vector<std::optional<std::size_t>> alternatives;  // index in `fields`; nothing: without columns

  // Whether a columnar view shows it as null or a value. An alternative of a variant has as many items as there are
  // values of it, so there it stays a list.
  bool is_nullable() const { return optional && tag == 0; }
  bool is_date() const { return date != tfile::DateKind::none; }
  bool is_record() const { return (kind == Kind::record || kind == Kind::variant) && !is_date(); }
  // A record of a class without members, or of such records: it has no columns.
  bool is_hollow() const;
};

// The form that a variant's tag selects, from 1 on; null if it has no columns.
const TableForm* alternative(const TableForm& variant, std::size_t tag);

// The name of a node's file without its type; if it has no file, that of its directory.
std::string_view bare_name(const std::vector<Column>&, const tfile::Node&);

// Whether a column exists only in name, with a reason: no bytes were written for the items that its lists have, or its
// bytes cannot be read. Bytes that were not decoded are values.
bool has_no_values(const Column&);

// The record of all columns of the table. A node among the items of a list that has another number of items (the
// undecoded bytes of whole entries) becomes a field of the table, named by its path. A column without values is left
// out, and so is a list of which no item is shown. `left_out`: further columns to leave out, by column, or empty.
// `hollow`: whether to keep records without columns, which only text can show.
enum class Hollow : std::uint8_t { left_out, kept };
TableForm table_form(const tfile::Table&, const Contradicted& left_out = {}, Hollow hollow = Hollow::left_out);

// The node's own kind holds for numbers of ROOT's classes only: of a leaf, and whether a record has the two of a
// TTimeStamp.
tfile::DateKind date_of_numbers(const tfile::Node&, const Column&);
bool is_timestamp_record(const tfile::Table&, const tfile::Node&);

// The columns of a date: one, or two of a timestamp.
std::vector<ColumnId> date_columns(const TableForm&);

// Items of a node at its own depth (of a record, those of its longest field; of a date, of its shortest column);
// nothing if the number is not known.
std::optional<std::int64_t> own_length(const TableForm&, const ColumnLengths&);

}  // namespace tfilefs
