// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfile/result.h"
#include "tfile/table.h"
#include "view/list_counts.h"

namespace tfilefs {

// How a node of a table is written as text, one entry a line:
//   number            shortest decimal form that reads back equal; nan, inf, -inf; a bool is 0 or 1
//   fixed shape       its numbers in C order, by spaces (the shape is the same everywhere, so it needs no brackets)
//   string            as it is, control characters and backslashes escaped as in C
//   list              its items, by spaces
//   record            its fields, by tabs; the fields of a record in it follow one another in the same way
//   list of 0 or 1 that says whether there is a value (a pointer that may be null): null, or the value as inside a list
//   variant           the name of the class and the value as inside a list, in parentheses that a record has already:
//                     Track(1 2 3), int(5), std::string("a b"); null where there is nothing
// and inside a list, where spaces separate:
//   list [1 2 3], record (1 2 3), string "as above, with \" too"
//   bytes that are not decoded: two hexadecimal digits each
// An entry that a shorter column does not have is an empty field; an item of a list that a column does not have, or has
// not for itself (undecoded bytes are those of the whole entry), is a question mark.
//
// A whole table is written in one of two other styles. JSON lines: an object a line, records as objects, lists and
// shapes as arrays, variants as an object of one member, named by the class, undecoded bytes as a string of hexadecimal
// digits; null for what is missing, and for nan and infinities, which JSON does not have. CSV (RFC 4180): a line of
// names, then a line an entry of the columns of one number or string; strings are always quoted, and one that a
// spreadsheet would run as a formula (it begins with = + - @, a tab or a carriage return) has an apostrophe in front.
enum class TextStyle : std::uint8_t { plain, json, csv };

struct TextForm {
  enum class Kind : std::uint8_t { number, string, bytes, list, optional, record, variant, elsewhere };
  static constexpr tfile::ColumnId kNone = ~tfile::ColumnId{0};
  static constexpr std::uint32_t kUnseen = ~std::uint32_t{0};

  Kind kind = Kind::number;
  bool inner = false;                           // inside a list or a variant
  bool hollow = false;                          // a record without columns: there is one wherever it is asked for
  tfile::ColumnId ends = kNone;                 // of list, optional, string, bytes: the offsets column
  tfile::ColumnId values = kNone;               // of number, string, bytes: the column itself
  tfile::ColumnId tags = kNone, index = kNone;  // of variant
  std::vector<std::uint32_t> fields;  // of list, optional: its one item; of record: its fields; of variant: what tags
                                      // 1, 2, ... say, kUnseen where it has no columns (indices of forms)
  std::vector<std::string> classes;   // of variant: what stands before each value, in the style of the text
  std::string name;                   // of a field, in the style of the text; plain text has no names
};

// forms[0] is that of `node`. Errors: unsupported (nothing in it can be written).
tfile::Result<std::vector<TextForm>> text_forms(const tfile::Table&, tfile::NodeId node);

// Those of a whole table, for JSON or CSV; forms[0] is the line. The names of a record's members within CSV are joined
// by dots; of a variant CSV has tags and index. Errors: unsupported (nothing in it can be written).
tfile::Result<std::vector<TextForm>> table_text_forms(const tfile::Table&, TextStyle,
                                                      const Contradicted& left_out = {});

}  // namespace tfilefs
