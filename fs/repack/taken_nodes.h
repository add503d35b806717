// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tfile/table.h"
#include "tfile/writer.h"

namespace tfilefs {

// A column of a table, and its path in the table that is made of it.
struct TakenColumn {
  tfile::ColumnId column = 0;
  std::string path;
};

struct TakenNodes {
  std::vector<TakenColumn> columns;
  std::vector<std::pair<std::string, std::string>> variants;  // new paths, and their types
  // A line each: "event/fTracks: reason", "x.y: it is x_y: reason".
  std::vector<std::string> left_out, renamed;
};

// Why a column cannot be written; "" if it may be.
using ReasonAgainst = std::function<std::string(const tfile::Column&)>;

// A table, and nodes of it that are as if they were not there, ascending.
struct ShownNodes {
  const tfile::Table& table;
  const std::vector<tfile::NodeId>& hidden;
};

// The columns at and below these nodes at the top of a table, as far as nothing is against them. What is left out
// is the member of a record, or the field, that a refused column belongs to. Names that the format does not take, or
// that are there twice, become others. Pure.
TakenNodes take_nodes(const ShownNodes&, const std::vector<tfile::NodeId>& tops, tfile::TableFormat,
                      const ReasonAgainst&);

// The name of a node as paths of a mount have it, without its type.
std::string stem_of(const tfile::Table&, tfile::NodeId);

}  // namespace tfilefs
