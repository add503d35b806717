// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tfile/result.h"
#include "view/chain/table_schema.h"

namespace tfilefs {

// The fate of columns that not all files of a chain have in the same way: left out; shown as lists of 0 or 1; or
// the chain is refused.
enum class ChainPolicy : std::uint8_t { common, all, strict };

// A column of a file's table.
struct FileColumn {
  tfile::ColumnId id = 0;
  tfile::StreamId stream = 0;
  std::uint32_t slot = 0;
  std::uint32_t item_size = 0;
  tfile::Dtype dtype = tfile::Dtype::u1;
  friend bool operator==(const FileColumn&, const FileColumn&) = default;
};

// The number of the items of one depth in a file.
struct CountSource {
  enum class Of : std::uint8_t { nothing, entries, items };
  Of of = Of::nothing;
  FileColumn column;       // of items: the one that has as many
  bool is_ends = false;    // and one more: it holds the ends of lists, behind a 0
  std::int64_t times = 1;  // as often as that
  friend bool operator==(const CountSource&, const CountSource&) = default;
};

// A number in ChainSchema::counts. 0: entries.
using CountId = std::uint32_t;

// The source of a column's items, in a file.
struct ItemSource {
  enum class Kind : std::uint8_t {
    nothing,       // the file has none
    same,          // those of `column`
    widened,       // those of `column`, of a smaller type
    ends,          // those of `column`, which begin with a 0, behind what the files before hold
    steps,         // ends of lists of `step` items each
    index,         // those of `column`, behind what the files before hold of the alternative that `tags` names
    file_number,   // the number of the file
    entry_number,  // the number of the entry in its file
  };
  Kind kind = Kind::nothing;
  FileColumn column, tags;
  std::uint32_t step = 0;
};

struct ChainColumn {
  CountId count = 0;                // of its items; of an offsets column: of its lists
  std::vector<CountId> held;        // of an offsets column: of what they hold; of an index: by tag, from 1
  std::vector<ItemSource> sources;  // by schema
};

// A node that differs between files: left out, widened, turned into lists, or missing in some.
struct Difference {
  std::string node;                // its path in the tables, without types
  std::string shown;               // what it is in the chain
  std::vector<std::string> found;  // by schema
  bool is_left_out = false;
};

// A table of many files. Nodes and columns are those of a tfile::Table whose streams have one column each, with its
// number.
struct ChainSchema {
  std::vector<tfile::Node> nodes;
  std::vector<tfile::Column> columns;
  std::vector<ChainColumn> chained;              // by column
  std::vector<std::vector<CountSource>> counts;  // by CountId, then by schema
  std::vector<Difference> differences;
};

// The table of files that have these schemas (one of each, in the order in which they come first). Nodes with the same
// name belong together, whatever their branches are. Errors: unsupported, under `strict`, with the first node that
// differs, and the number of the schema in `offset`.
tfile::Result<ChainSchema> chain_schema(std::span<const TableSchemaPtr> schemas, ChainPolicy);

// A table of two columns, `.file.u4` and `.entry.i8`, for so many schemas: where each entry comes from.
ChainSchema origins_schema(std::size_t schemas);

}  // namespace tfilefs
