// SPDX-License-Identifier: Apache-2.0
#include "view/chain/table_schema.h"

#include <optional>
#include <utility>

namespace tfilefs {
namespace {

// All that must agree in schemas that are kept once, as text.
class Signature {
 public:
  explicit Signature(const TableSchema& schema) {
    add(schema.kind);
    add(schema.nodes);
    add(schema.columns);
    add(schema.short_columns);
  }
  std::string take() { return std::move(text_); }

 private:
  void add(std::uint64_t number) { text_ += std::to_string(number) + ' '; }
  void add(const std::string& text) {
    add(text.size());
    text_ += text;
  }
  template <class T>
  void add(const std::vector<T>& all) {
    add(std::uint64_t{all.size()});
    for (const T& each : all) add(each);
  }
  void add(const std::optional<tfile::ColumnId>& column) { add(column ? std::uint64_t{*column} + 1 : 0); }
  void add(const tfile::Node& node) {
    add(static_cast<std::uint64_t>(node.kind));
    add(node.name);
    add(node.original_name);
    add(node.branch_name);
    add(node.children);
    add(node.column);
    add(node.alternatives);
    add(node.tag);
  }
  void add(const tfile::Column& column) {
    add(static_cast<std::uint64_t>(column.dtype));
    add(static_cast<std::uint64_t>(column.role));
    add(std::uint64_t{column.optional});
    add(column.shape);
    add(column.lists);
    add(column.counter);
    add(column.branch);
    add(column.field);
    add(column.class_name);
    add(column.reason);
    add(column.stream);
    add(column.slot);
  }

  std::string text_;
};

}  // namespace

TableSchemaPtr SchemaSet::keep(TableSchema schema) {
  std::string key = Signature(schema).take();
  const Lock lock(mutex_);
  auto& known = known_[std::move(key)];
  if (auto same = known.lock()) return same;
  auto made = std::make_shared<const TableSchema>(std::move(schema));
  known = made;
  return made;
}

}  // namespace tfilefs
