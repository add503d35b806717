// SPDX-License-Identifier: Apache-2.0
#include "view/chain/table_schema.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace tfilefs {

// The parts to compare are not copied: a thousand wide files have one schema.
struct SchemaSet::Parts {
  const std::string& kind;
  const std::vector<tfile::Node>& nodes;
  const std::vector<tfile::Column>& columns;
  const std::vector<tfile::ColumnId>& short_columns;
};

namespace {

auto compared_parts(const tfile::Node& node) {
  return std::tie(node.kind, node.name, node.original_name, node.branch_name, node.children, node.column,
                  node.alternatives, node.tag);
}
auto compared_parts(const tfile::Column& column) {
  return std::tie(column.dtype, column.role, column.optional, column.shape, column.lists, column.counter, column.branch,
                  column.field, column.class_name, column.reason, column.stream, column.slot);
}

template <class T>
bool are_same(const std::vector<T>& a, const std::vector<T>& b) {
  if (&a == &b) return true;
  return std::ranges::equal(a, b, [](const T& x, const T& y) { return compared_parts(x) == compared_parts(y); });
}

}  // namespace

bool has_schema(const tfile::Table& table, const TableSchema& schema) {
  return table.kind == schema.kind && are_same<tfile::Node>(table.nodes, schema.nodes) &&
         are_same<tfile::Column>(table.columns, schema.columns);
}

std::size_t SchemaSet::hash(const Parts& parts) {
  std::size_t all = parts.columns.size();
  const auto add = [&](std::size_t number) { all = (all ^ number) * 0x9E3779B97F4A7C15 + (all >> 29); };
  for (const tfile::Node& node : parts.nodes) add(std::hash<std::string>()(node.name));
  for (const tfile::Column& column : parts.columns) {
    add(static_cast<std::size_t>(column.dtype));
    add(std::size_t{column.stream} << 8 | column.slot);
  }
  return all;
}

TableSchemaPtr SchemaSet::find(std::size_t hash, const Parts& parts) {
  const auto [begin, end] = known_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const TableSchemaPtr known = at->second.lock();
    if (known && known->kind == parts.kind && known->short_columns == parts.short_columns &&
        are_same<tfile::Node>(known->nodes, parts.nodes) && are_same<tfile::Column>(known->columns, parts.columns))
      return known;
  }
  return nullptr;
}

template <class Make>
TableSchemaPtr SchemaSet::keep(const Parts& parts, Make make) {
  const std::size_t number = hash(parts);
  {
    const Lock lock(mutex_);
    if (auto same = find(number, parts)) return same;
  }
  auto made = std::make_shared<const TableSchema>(make());
  const Lock lock(mutex_);
  if (auto same = find(number, {made->kind, made->nodes, made->columns, made->short_columns})) return same;
  std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
  known_.emplace(number, made);
  return made;
}

TableSchemaPtr SchemaSet::keep(TableSchema schema) {
  return keep(Parts{schema.kind, schema.nodes, schema.columns, schema.short_columns},
              [&] { return std::move(schema); });
}

TableSchemaPtr SchemaSet::keep(const tfile::Table& table, std::vector<tfile::ColumnId> short_columns) {
  return keep(Parts{table.kind, table.nodes, table.columns, short_columns}, [&] {
    return TableSchema{table.kind, table.nodes, table.columns, short_columns};
  });
}

TableSchemaPtr SchemaSet::keep_shared(std::shared_ptr<const tfile::Table> table,
                                      std::vector<tfile::ColumnId> short_columns) {
  SharedList nodes(std::shared_ptr<const std::vector<tfile::Node>>(table, &table->nodes));
  SharedList columns(std::shared_ptr<const std::vector<tfile::Column>>(table, &table->columns));
  return keep(TableSchema{table->kind, std::move(nodes), std::move(columns), std::move(short_columns)});
}

}  // namespace tfilefs
