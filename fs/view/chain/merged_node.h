// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "view/chain/chain_schema.h"

namespace tfilefs {

// A node of a file's table, as one of the files of a chain has it.
struct NodePlace {
  const TableSchema* schema = nullptr;
  tfile::NodeId node = 0;
  std::size_t peeled = 0;  // of numbers of fixed shape: so many outer dimensions are seen as lists
  std::size_t depth = 0;   // offsets columns above it

  const tfile::Node& at() const { return schema->nodes[node]; }
  const tfile::Column& column() const { return schema->columns[*at().column]; }
  std::vector<std::uint32_t> shape() const {  // of a number: what is left of it
    const auto& whole = column().shape;
    return {whole.begin() + static_cast<std::ptrdiff_t>(peeled), whole.end()};
  }
};
using NodePlaces = std::vector<std::optional<NodePlace>>;  // by schema

FileColumn file_column(const TableSchema&, tfile::ColumnId);

// The content of a list, an optional or an array.
NodePlace inner(const NodePlace&);

// A column of the node, of its children, ...; null if there is none.
const tfile::Column* any_column(const NodePlace&, int depth = 0);

// The source of the number of items at a node: a column among them that has as many; nothing if there is none.
std::optional<CountSource> counted_at(const NodePlace&, int depth = 0);

// A node of a chain, made of those that the files have under its name.
struct MergedNode {
  tfile::NodeKind kind = tfile::NodeKind::record;
  std::string stem;        // its name without a type
  bool is_made = false;    // of an optional: it says whether the file has the node; else the files say so themselves
  bool is_second = false;  // beside another of the same name
  tfile::Dtype dtype = tfile::Dtype::u1;  // of a number
  std::vector<std::uint32_t> shape;
  NodePlaces places;
  std::vector<MergedNode> children;  // of list, map, optional: what they hold; of record, variant: their nodes

  // The first of the places.
  const NodePlace& first() const;
};

// The root of the chain's table; and what differs. Errors: as chain_schema().
struct MergedTable {
  MergedNode root;
  std::vector<Difference> differences;
};
tfile::Result<MergedTable> merge_tables(std::span<const TableSchemaPtr> schemas, ChainPolicy);

}  // namespace tfilefs
