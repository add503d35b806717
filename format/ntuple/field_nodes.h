// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ntuple/column_type.h"
#include "ntuple/page_table.h"
#include "ntuple/schema_records.h"
#include "streamer/layout/read_program.h"
#include "tfile/node.h"

namespace tfile {

// The dtype for the type of a field; nullopt if the type is not a number.
std::optional<Dtype> dtype_of_type(std::string_view type_name);

// The kind of a field with a list of items, by its type: a map, an optional value, or another list.
NodeKind list_kind(const FieldRecord&);

// The number type in "ROOT::RNTupleCardinality<std::uint32_t>"; nullopt for other types.
std::optional<Dtype> cardinality_dtype(std::string_view type_name);

// The name of a field's node: "values" for the item of a list, "key" and "value" for the parts of a map's item, "first"
// and "second" for those of a pair. A base has the name of its class, an alternative that of its type.
std::string shown_name(const FieldRecord& field, const FieldRecord* parent, const FieldRecord* grandparent);

// Types can nest as deep as C++ allows; this protects the stack. Fields that nest deeper are not shown.
inline constexpr int kFieldDepthMax = 64;

// The name of a field with those of the fields around it, up to that depth: "muons._0.pt".
std::string path_of_field(const SchemaRecords&, FieldId);

// A column that counts the items of a field, and the number of its elements per item.
struct ItemCount {
  PageColumn column = 0;
  std::uint64_t per_item = 1;
};

// The source of columns in the mount.
struct FieldStream {
  enum class Kind : std::uint8_t {
    numbers,  // the elements of a column, as `dtype`
    ends,     // the elements of an index column: ends of lists
    sizes,    // the same as lengths of lists, as `dtype`: a cardinality; computed from the chunks of `from`
    variant,  // the elements of a switch column: tags and indexes
    steps,    // ends of lists that all have the same length: fixed arrays of items that are not numbers
    arrays,   // whole items of the elements in `from`, because pages end inside items
    objects,  // the arrays that `program` makes of the objects in `column`, with ends in `from`: one chunk per cluster
  };
  Kind kind = Kind::numbers;
  PageColumn column = 0;
  Dtype dtype = Dtype::u1;
  std::uint64_t per_item = 1;  // elements per item; steps: the length of each list
  // ends: the count of the items of the lists; nullopt if the items have no columns. variant: the same for each
  // alternative. steps: the count of the lists; empty if there is one list per entry.
  std::vector<std::optional<ItemCount>> below;
  std::optional<ItemCount> told_by;  // steps: the elements of each item of the field; nullopt: unknown
  StreamId from = 0;
  StreamId bytes = 0;       // objects: the bytes of `column`
  std::size_t program = 0;  // objects: index of FieldNodes::programs
  std::string class_name;   // objects
};

// The encodings of a column, one per representation.
struct ColumnEncodings {
  std::vector<PageEncoding> by_representation;
};

// The nodes, columns and streams of an RNTuple's fields.
struct FieldNodes {
  std::vector<Node> nodes;
  std::vector<Column> columns;  // without compression
  std::vector<FieldStream> streams;
  std::vector<Program> programs;
  std::vector<ColumnPlace> places;         // of the columns in the file
  std::vector<ColumnEncodings> encodings;  // by PageColumn
  std::vector<std::uint64_t> per_entry;    // by PageColumn: elements per entry; 0 for columns in lists
  std::vector<std::string> warnings;       // about fields that were left out
};

// `as_bytes`: of streamer fields whose objects are not decoded, the columns of their bytes, with the reason.
FieldNodes make_field_nodes(const SchemaRecords&, const std::map<PageColumn, std::string>& as_bytes = {});

}  // namespace tfile
