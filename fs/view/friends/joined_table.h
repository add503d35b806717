// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/cluster_cache.h"
#include "view/chain/composed_table.h"

namespace tfilefs {

// A table and others of as many entries as one: behind its own columns those of friends, each with the friend's alias
// and "_" in front of its name, as RDataFrame names them in a new file, or in a record that is called as the alias; or
// those that are computed of them. Const.
class JoinedTable final : public ComposedTable {
 public:
  struct Part {
    std::string alias;  // "": the table itself, which is the first one
    std::shared_ptr<const tfile::Table> table;
    std::shared_ptr<CachedStreams> streams;
    bool replaces = false;   // its columns take the place of others of the same name
    bool is_record = false;  // they are in one of their own
  };
  // All have as many entries as the first one.
  explicit JoinedTable(std::vector<Part>);

  // "w_x: the table has a column of that name": what is left out.
  const std::vector<std::string>& left_out() const { return left_out_; }

  // By part: its record, if it is one.
  const std::vector<tfile::NodeId>& records() const { return records_; }

  // The part that has a stream, and the number of the stream there.
  std::pair<const Part*, tfile::StreamId> place(tfile::StreamId) const;
  const Part& own() const { return parts_.front(); }

  std::size_t stream_count() const override { return first_streams_.back(); }
  tfile::StreamShape shape(tfile::StreamId) const override;
  tfile::EntryRange chunk_entries(tfile::ChunkKey) const override;
  std::vector<std::int64_t> lengths(tfile::StreamId) const override;

 private:
  void add_columns(const Part&, tfile::StreamId first_stream);
  void add_nodes(const Part&, tfile::ColumnId first_column);
  tfile::NodeId add_record(const Part&);

  std::vector<Part> parts_;
  std::vector<tfile::StreamId> first_streams_;  // of each part, then the number of all
  std::vector<std::string> left_out_;
  std::vector<tfile::NodeId> records_;
};

// The streams of its parts.
std::shared_ptr<CachedStreams> joined_streams(std::shared_ptr<const JoinedTable>);

}  // namespace tfilefs
