// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tfile {

enum class Dtype : std::uint8_t { b1, i1, u1, i2, u2, i4, u4, i8, u8, f4, f8 };

std::size_t size_of(Dtype);
std::string_view type_suffix(Dtype);  // "f4": as in file names
std::string numpy_dtype(Dtype);       // "<f4", "|b1", "|i1": as in schemas

enum class Role : std::uint8_t { values, offsets, chars, tags, index, raw };
std::string_view role_name(Role);

using StreamId = std::uint32_t;
using ColumnId = std::uint32_t;
using NodeId = std::uint32_t;

// One raw-array file of a table: items of one dtype and shape, little-endian, in C order, without padding.
struct Column {
  std::string path;  // below the table, as in the mount: "Muon_pt/values.f4"
  std::string name;  // the last component: "values.f4"
  Dtype dtype = Dtype::u1;
  Role role = Role::values;
  bool optional = false;             // of an offsets column: each list has 0 or 1 items
  std::vector<std::uint32_t> shape;  // {} for a number
  std::vector<ColumnId> lists;       // the offsets columns above this one, outermost first
  std::optional<ColumnId> counter;   // of an offsets column: the column of one integer per entry that counts its items
  std::string branch;                // branch names from the top branch, joined by '/'
  std::vector<std::string> field;    // member names below that branch
  std::string title, class_name, compression;
  std::string reason;  // why the column is raw, or (with any other role) has no values; else empty
  StreamId stream = 0;
  std::uint32_t slot = 0;  // the column's array in each chunk of the stream

  std::size_t item_size() const;  // bytes of one item, which is one element of the whole shape
};

// The meaning of a node. The comments name its children, in their order.
enum class NodeKind : std::uint8_t {
  number,    // no children: a leaf, which is a column
  string,    // offsets, chars
  raw,       // offsets, bytes that are not decoded
  list,      // offsets, and the items if any column shows them
  map,       // a list of keys and values
  optional,  // a list of 0 or 1 items: whether the value is present
  record,    // one child per member
  variant,   // tags, index, and one child per alternative that has columns
};

// The meaning of a node's numbers to a reader of dates. The files of the columns have the numbers; text, Arrow and
// Parquet show the dates (date.h).
enum class DateKind : std::uint8_t {
  none,
  datime,     // TDatime, a number: date and time of day are packed into u4
  timestamp,  // TTimeStamp, a record of fSec.i4 and fNanoSec.i4
};

// A directory of a table, or a leaf. Node 0 is the directory of the table itself, a record.
struct Node {
  NodeKind kind = NodeKind::record;
  std::string name;                       // path component, escaped and unique among its siblings
  std::string original_name;              // ROOT's own name if `name` differs from it; else empty
  std::string branch_name;                // ROOT's full branch name, an alias for look-ups; empty if equal to `name`
  std::vector<NodeId> children;           // empty for a leaf
  std::optional<ColumnId> column;         // set for a leaf
  std::vector<std::string> alternatives;  // of a variant: ROOT's names of the types with tags 1, 2, ...; 0 is null
  std::uint32_t tag = 0;                  // of a variant's child that is an alternative: its tag
  DateKind date = DateKind::none;
};

// "pos" + {f4, {3}} <-> "pos.f4x3".
struct TypedName {
  std::string stem;
  Dtype dtype = Dtype::u1;
  std::vector<std::uint32_t> shape;
};
std::string typed_suffix(Dtype, const std::vector<std::uint32_t>& shape);  // ".f4x3"
std::optional<TypedName> parse_typed_name(std::string_view file_name);

}  // namespace tfile
