// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mutex.h"
#include "tfile/table.h"

namespace tfilefs {

// A list of its own, or one of a table that stays open for it.
template <class T>
class SharedList {
 public:
  SharedList() : SharedList(std::vector<T>()) {}
  SharedList(std::vector<T> own) : list_(std::make_shared<const std::vector<T>>(std::move(own))) {}
  explicit SharedList(std::shared_ptr<const std::vector<T>> list) : list_(std::move(list)) {}

  operator const std::vector<T>&() const { return *list_; }
  const T& operator[](std::size_t i) const { return (*list_)[i]; }
  std::size_t size() const { return list_->size(); }
  bool empty() const { return list_->empty(); }
  auto begin() const { return list_->begin(); }
  auto end() const { return list_->end(); }

 private:
  std::shared_ptr<const std::vector<T>> list_;
};

// A whole table as it is shown, without its bytes.
struct TableSchema {
  std::string kind;  // as Table::kind
  SharedList<tfile::Node> nodes;
  SharedList<tfile::Column> columns;
  // Columns with fewer entries than the table, ascending: what is behind them would lie at the wrong entries.
  std::vector<tfile::ColumnId> short_columns;
};
using TableSchemaPtr = std::shared_ptr<const TableSchema>;

// Whether a table has these nodes, and these columns in the same streams. Titles and compressions may differ.
bool has_schema(const tfile::Table&, const TableSchema&);

// Keeps equal schemas once: those with the same nodes, and the same columns in the same streams. Their titles and
// compressions may differ; those of the first stay. Thread-safe.
class SchemaSet {
 public:
  TableSchemaPtr keep(TableSchema) EXCLUDES(mutex_);
  TableSchemaPtr keep(const tfile::Table&, std::vector<tfile::ColumnId> short_columns) EXCLUDES(mutex_);
  // Keeps that of a table that stays open as long as it is in use: of a wide one, a copy takes tens of megabytes.
  TableSchemaPtr keep_shared(std::shared_ptr<const tfile::Table>, std::vector<tfile::ColumnId> short_columns)
      EXCLUDES(mutex_);

 private:
  struct Parts;
  static std::size_t hash(const Parts&);
  TableSchemaPtr find(std::size_t hash, const Parts&) REQUIRES(mutex_);
  template <class Make>
  TableSchemaPtr keep(const Parts&, Make make) EXCLUDES(mutex_);

  Mutex mutex_{"SchemaSet::mutex_"};
  std::unordered_multimap<std::size_t, std::weak_ptr<const TableSchema>> known_ GUARDED_BY(mutex_);  // by hash
};

}  // namespace tfilefs
