// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "cache/cluster_cache.h"
#include "staging/commit/column_items.h"
#include "staging/commit/file_writes.h"
#include "staging/overlay/staged_table.h"
#include "tfile/writer.h"

namespace tfilefs {

// Where parts go.
struct PartSink {
  tfile::FileWriter& places;
  FileWrites& file;
  ClusterCache& cache;               // in whose arena they are made
  std::uint64_t cluster_bytes = 0;   // compressed, of the first cluster
  std::atomic<std::uint64_t>& left;  // bytes of columns still to be encoded: progress
};

// A table of the file as it is written, cluster by cluster. Used by one thread at a time; blocks.
class TableCommit {
 public:
  explicit TableCommit(tfile::TableWriter*);

  // What the file holds of it, commits of this writer included.
  const CommittedTable& committed() const { return committed_; }
  // What was written so far is in the file now.
  void note_commit();
  // What counts the items of committed columns.
  void count_by(std::function<Result<std::int64_t>(const std::string&)> items) { committed_.items = std::move(items); }

  Result<> drop_field(const std::string& name);
  // Of the key that the next commit writes; 0: that of the commit.
  Result<> set_date(tfile::FileWriter& file, std::uint32_t datime) { return file.date_table(writer_, datime); }

  // Adds what is staged up to entry `entries` of the table, new columns included; unless `whole`, whole clusters alone.
  // Gives the entries that the table has then. Errors: invalid (a type that is not written, columns that contradict
  // each other), io.
  Result<std::int64_t> write(const StagedTable&, std::int64_t entries, bool whole, const PartSink&);

  // Sets in each column the bytes that make the first `entries` entries; if `whole`, all it has. Blocks.
  Result<> measure(StagedTable&, std::int64_t entries, bool whole) const;

 private:
  Result<> add_fields(const StagedTable&);
  std::vector<FieldColumns> columns_of(const StagedTable&) const;  // by field
  Result<> size_clusters(const std::vector<FieldColumns>&, tfile::EntryRange, const PartSink&);
  Result<> sample_fields(const std::vector<FieldColumns>&, tfile::EntryRange, ClusterCache&);
  Result<> write_cluster(const std::vector<FieldColumns>&, tfile::EntryRange, const PartSink&);

  tfile::TableWriter* writer_;                 // of the FileWriter
  std::vector<tfile::OfferedColumn> columns_;  // the committed form's, then all added
  struct Field {
    tfile::FieldForm form;
    bool dropped = false;
    std::int64_t entries = 0;  // written so far
    bool sampled = false;
    std::int64_t part_entries = 0;  // 0: not known yet
  };
  std::vector<Field> fields_;  // by number
  CommittedTable committed_;
  std::int64_t cluster_entries_ = 0;  // 0: not known yet
};

}  // namespace tfilefs
