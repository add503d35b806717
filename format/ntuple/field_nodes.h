// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ntuple/column_type.h"
#include "ntuple/page_table.h"
#include "ntuple/schema_records.h"
#include "streamer/layout/read_program.h"
#include "tfile/node.h"

namespace tfile {

// Types nest as C++ lets them; this bounds the stack. Fields that nest deeper are not shown.
inline constexpr int kFieldDepthMax = 64;

// Items of a field are counted by a column: so many elements for each item.
struct ItemCount {
  PageColumn column = 0;
  std::uint64_t per_item = 1;
};

// What feeds columns of the mount.
struct FieldStream {
  enum class Kind : std::uint8_t {
    numbers,  // the elements of a column, as `dtype`
    ends,     // those of an index column: where lists end
    sizes,    // the same as lengths of lists, as `dtype`: a cardinality; made of the chunks of `from`
    variant,  // those of a switch column: tags, and indexes
    steps,    // ends of lists that all have the same length: fixed arrays of what are no numbers
    arrays,   // whole items of the elements in `from`, whose pages end within items
    objects,  // what `program` makes of the objects in `column`, which end where `from` says: a chunk a cluster
  };
  Kind kind = Kind::numbers;
  PageColumn column = 0;
  Dtype dtype = Dtype::u1;
  std::uint64_t per_item = 1;  // elements that make an item; steps: the length of each list
  // ends: what counts the items of the lists; nothing where they have no column at all. variant: the same for each
  // alternative. steps: what counts the lists; empty where each entry has one.
  std::vector<std::optional<ItemCount>> below;
  std::optional<ItemCount> told_by;  // steps: the elements of each item that has a list; none where nobody knows
  StreamId from = 0;
  StreamId bytes = 0;       // objects: those of `column`
  std::size_t program = 0;  // objects: in FieldNodes::programs
};

// The encodings of a column, one for each representation.
struct ColumnEncodings {
  std::vector<PageEncoding> by_representation;
};

// What the fields of an RNTuple show as.
struct FieldNodes {
  std::vector<Node> nodes;
  std::vector<Column> columns;  // without compression
  std::vector<FieldStream> streams;
  std::vector<Program> programs;
  std::vector<ColumnPlace> places;         // of the columns on disk
  std::vector<ColumnEncodings> encodings;  // by PageColumn
  std::vector<std::uint64_t> per_entry;    // by PageColumn: elements in each entry; 0 for those in lists
  std::vector<std::string> warnings;       // fields that were left out
};

FieldNodes make_field_nodes(const SchemaRecords&);

}  // namespace tfile
