// SPDX-License-Identifier: Apache-2.0
#include "view/defined/defined_table.h"

#include <algorithm>

#include "path_name.h"
#include "tfile/expression.h"
#include "tfile/name.h"

namespace tfilefs {

using tfile::Column;
using tfile::ColumnId;
using tfile::Node;
using tfile::NodeId;

DefinedTable::DefinedTable(std::shared_ptr<const tfile::Table> of, const NamedExpressions& wanted, bool is_one_file,
                           const std::stop_token& stop, const FriendsBeside& friends_in_it)
    : of_(std::move(of)) {
  name = of_->name;
  title = of_->title;
  kind = of_->kind;
  entries = std::max<std::int64_t>(0, of_->entries);
  clusters = of_->clusters;
  siblings = of_->siblings;
  nodes.emplace_back();
  const QueryScope scope{TableNames(*of_, friends_in_it), wanted, is_one_file, stop};
  std::vector<std::string> known;
  for (const auto& [defined, expression] : wanted) {
    if (std::ranges::find(known, defined) != known.end()) continue;  // the first one counts
    known.push_back(defined);
    // By its name, so that the expression may name a column that it hides, and not itself.
    auto query = Query::bind(std::vector{tfile::quoted_name(defined)}, scope);
    if (query)
      add_definition(tfile::escape_name(defined), expression, *std::move(query));
    else
      left_out_.emplace_back(defined, on_one_line(std::move(query).error()).text);
  }
}

NodeId DefinedTable::add_column(NodeId parent, std::string path, Column column) {
  const auto id = static_cast<ColumnId>(columns.size());
  column.path = std::move(path);
  column.name = name_in_path(column.path);
  column.stream = id;
  if (column.role == tfile::Role::offsets) column.lists.push_back(id);
  const auto node = static_cast<NodeId>(nodes.size());
  Node& made = nodes.emplace_back();
  made.kind = tfile::NodeKind::number;
  made.name = column.name;
  made.column = id;
  nodes[parent].children.push_back(node);
  columns.push_back(std::move(column));
  of_column_.push_back(definitions_.size() - 1);
  return node;
}

void DefinedTable::add_definition(const std::string& defined, const std::string& expression, Query query) {
  const bool is_list = !query.is_one_each();
  definitions_.push_back({std::move(query), is_list});
  Column values;
  values.dtype = tfile::Dtype::f8;
  values.title = expression;
  values.branch = defined;
  if (!is_list) {
    add_column(0, defined + ".f8", std::move(values));
    return;
  }
  const auto list = static_cast<NodeId>(nodes.size());
  Node& made = nodes.emplace_back();
  made.kind = tfile::NodeKind::list;
  made.name = defined;
  nodes[0].children.push_back(list);
  Column offsets = values;
  offsets.dtype = tfile::Dtype::i8;
  offsets.role = tfile::Role::offsets;
  add_column(list, defined + "/offsets.i8", std::move(offsets));
  values.lists.push_back(static_cast<ColumnId>(columns.size() - 1));
  add_column(list, defined + "/values.f8", std::move(values));
}

}  // namespace tfilefs
