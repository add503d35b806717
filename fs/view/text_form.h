// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfile/result.h"
#include "tfile/table.h"
#include "view/column_lengths.h"

namespace tfilefs {

// How a node of a table is written as text, one line per entry:
//   number            shortest decimal form that reads back equal; nan, inf, -inf; a bool is 0 or 1
//   date              as ISO 8601 has it; a TDatime that is none, its number
//   fixed shape       its numbers in C order, by spaces (the shape is the same everywhere, so it needs no brackets)
//   string            as it is, control characters and backslashes escaped as in C
//   list              its items, by spaces
//   record            its fields, by tabs; the fields of a record in it follow one another in the same way
//   list of 0 or 1 that says whether there is a value (a pointer that may be null): null, or the value as inside a list
//   variant           the name of the class and the value as inside a list, in parentheses that a record has already:
//                     Track(1 2 3), int(5), std::string("a b"); null where there is no value
// and inside a list, where spaces separate:
//   list [1 2 3], record (1 2 3), string "as above, with \" too"
//   bytes that are not decoded: two hexadecimal digits each
// An entry that a shorter column does not have is an empty field. An item of a list that a column does not have, or
// does not have separately (undecoded bytes are those of the whole entry), is a question mark.
//
// A whole table is written in one of two other styles. JSON lines: an object per line, records as objects, lists and
// shapes as arrays, variants as an object of one member, named by the class, undecoded bytes as a string of hexadecimal
// digits, dates as strings; null for missing values, and for nan and infinities, which JSON does not have. CSV (RFC
// 4180): a line of names, then a line per entry with the columns of one number or string; strings are always quoted,
// and one that a spreadsheet would run as a formula (it begins with = + - @, a tab or a carriage return) has an
// apostrophe in front.
// In the CSV of a column alone, csv_cells, a list, or an array of fixed shape, is its JSON in one quoted cell.
// JSON lines may also be those of an array, of which all but the first begin with a comma (view/json_array.h).
enum class TextStyle : std::uint8_t { plain, json, json_array, csv, csv_cells };

struct TextForm {
  enum class Kind : std::uint8_t { number, string, bytes, list, optional, record, variant, elsewhere };
  static constexpr tfile::ColumnId kNone = ~tfile::ColumnId{0};
  static constexpr std::uint32_t kUnseen = ~std::uint32_t{0};

  Kind kind = Kind::number;
  bool inner = false;                           // inside a list or a variant
  bool hollow = false;                          // a record without columns: there is one at every index
  tfile::ColumnId ends = kNone;                 // of list, optional, string, bytes: the offsets column
  tfile::ColumnId values = kNone;               // of number, string, bytes: the column itself
  tfile::ColumnId tags = kNone, index = kNone;  // of variant
  tfile::ColumnId nanoseconds = kNone;          // of a number that is a timestamp: `values` are its seconds
  tfile::DateKind date = tfile::DateKind::none;
  std::vector<std::uint32_t> fields;  // of list, optional: its one item; of record: its fields; of variant: those of
                                      // the tags 1, 2, ..., kUnseen if one has no columns (indices of forms)
  std::vector<std::string> classes;   // of variant: the text before each value, in the style of the text
  std::string name;                   // of a field, in the style of the text; plain text has no names

  std::vector<tfile::ColumnId> columns() const;
};

// forms[0] is that of `node`. Errors: unsupported (no part of it can be written).
tfile::Result<std::vector<TextForm>> text_forms(const tfile::Table&, tfile::NodeId node);

// The forms of a whole table, for JSON or CSV; forms[0] is the line. In CSV the names of a record's members are joined
// by dots; of a variant it has tags and index. Errors: unsupported (no part of it can be written).
tfile::Result<std::vector<TextForm>> table_text_forms(const tfile::Table&, TextStyle,
                                                      const Contradicted& left_out = {});

}  // namespace tfilefs
