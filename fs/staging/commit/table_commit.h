// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "staging/commit/column_items.h"
#include "staging/overlay/staged_table.h"
#include "table_build/table_build.h"
#include "tfile/writer.h"

namespace tfilefs {

// A table of the file while it is written, cluster by cluster. Used by one thread at a time; blocks.
class TableCommit {
 public:
  explicit TableCommit(tfile::TableWriter*);

  // The table in the file, including commits of this writer.
  const CommittedTable& committed() const { return committed_; }
  // The parts written so far are in the file now.
  void note_commit();
  // Sets the function that counts the items of committed columns.
  void count_by(std::function<Result<std::int64_t>(const std::string&)> items) { committed_.items = std::move(items); }

  Result<> drop_field(const std::string& name);
  // The date of the key that the next commit writes; 0: that of the commit.
  Result<> set_date(tfile::FileWriter& file, std::uint32_t datime) { return file.date_table(writer_, datime); }

  // Adds the staged contents up to entry `entries` of the table, new columns included; unless `whole`, only complete
  // clusters. Returns the entries that the table then has. Errors: invalid (a type that is not written, columns that
  // contradict each other), io.
  Result<std::int64_t> write(const StagedTable&, std::int64_t entries, bool whole, const PartSink&);

  // Sets in each column the bytes of the first `entries` entries; if `whole`, all it has. Blocks.
  Result<> measure(StagedTable&, std::int64_t entries, bool whole) const;

 private:
  Result<> add_fields(const StagedTable&);
  std::vector<FieldColumns> columns_of(const StagedTable&) const;  // by field
  std::int64_t end_of_cluster(std::int64_t begin, std::int64_t entries, bool whole) const;

  tfile::TableWriter* writer_;               // owned by the FileWriter
  std::vector<tfile::InputColumn> columns_;  // those of the committed form, then all that were added
  std::vector<tfile::FieldForm> forms_;      // of the fields, by number
  std::vector<BuiltField> fields_;
  CommittedTable committed_;
  std::int64_t cluster_entries_ = 0;  // 0: not known yet
};

}  // namespace tfilefs
