// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "query/query.h"
#include "view/chain/composed_table.h"

namespace tfilefs {

// Columns that are computed of those of a table, as a table of as many entries. Each is a number for each entry, or, of
// an expression that may have another number of iterations, a list of numbers. DefinedStreams computes them. Const.
class DefinedTable final : public ComposedTable {
 public:
  // `of`: a whole table; `friends_in_it`: those beside it. What is no expression of its columns is left out; and all
  // that is not bound when `stop` is requested.
  DefinedTable(std::shared_ptr<const tfile::Table> of, const NamedExpressions&, bool is_one_file,
               const std::stop_token& stop = {}, const FriendsBeside& friends_in_it = {});

  const tfile::Table& of() const { return *of_; }
  // Names of what is left out, with the reason.
  const std::vector<std::pair<std::string, std::string>>& left_out() const { return left_out_; }

  struct Definition {
    Query query;
    bool is_list = false;
  };
  std::size_t definition_count() const { return definitions_.size(); }
  const Definition& definition(std::size_t number) const { return definitions_[number]; }
  std::size_t definition_of(tfile::ColumnId id) const { return of_column_[id]; }

  std::size_t stream_count() const override { return columns.size(); }
  tfile::StreamShape shape(tfile::StreamId) const override { return {.chunks = 1, .slots = 1}; }
  tfile::EntryRange chunk_entries(tfile::ChunkKey) const override { return {0, entries}; }
  std::vector<std::int64_t> lengths(tfile::StreamId) const override { return {-1}; }

 private:
  void add_definition(const std::string& name, const std::string& expression, Query);
  tfile::NodeId add_column(tfile::NodeId parent, std::string path, tfile::Column);

  const std::shared_ptr<const tfile::Table> of_;
  std::vector<Definition> definitions_;
  std::vector<std::size_t> of_column_;  // the number of its definition
  std::vector<std::pair<std::string, std::string>> left_out_;
};

}  // namespace tfilefs
