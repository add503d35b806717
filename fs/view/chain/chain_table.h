// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "view/chain/chain_schema.h"
#include "view/chain/composed_table.h"

namespace tfilefs {

// A file's part of a table of a chain.
struct ChainedFile {
  std::optional<std::uint32_t> schema;  // number of its schema; nothing: the file does not have the table
  std::int64_t entries = 0;
  std::vector<std::int64_t> clusters;  // as StreamSet::clusters
};

// A table of many files, as their entries one after the other. A chunk of a stream is what a file brings. It says what
// the columns are and where they come from; ChainStreams reads them. Const.
class ChainTable final : public ComposedTable {
 public:
  // `stored`: by column, the bytes that it takes in all files.
  ChainTable(ChainSchema, std::vector<ChainedFile>, std::vector<std::uint64_t> stored);

  const std::vector<ChainedFile>& files() const { return files_; }
  const std::vector<std::int64_t>& first_entries() const { return first_entries_; }  // one more than there are files
  std::size_t count_ids() const { return counts_.size(); }
  // The columns that count the items of a file; `nothing` for a file without the table.
  CountSource count_source(CountId, std::size_t file) const;
  ItemSource item_source(tfile::ColumnId, std::size_t file) const;

  std::size_t stream_count() const override { return columns.size(); }
  tfile::StreamShape shape(tfile::StreamId) const override;
  tfile::EntryRange chunk_entries(tfile::ChunkKey) const override;
  std::vector<std::int64_t> lengths(tfile::StreamId) const override;

 private:
  const std::vector<std::vector<CountSource>> counts_;
  const std::vector<ChainedFile> files_;
  const std::vector<std::uint64_t> stored_;
  std::vector<std::int64_t> first_entries_;
};

}  // namespace tfilefs
