// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "exec/thread_pool.h"
#include "repack/column_copy.h"
#include "repack/open_inputs.h"
#include "repack/repack.h"
#include "repack/table_work.h"
#include "reply.h"
#include "tfile/file.h"
#include "tfile/kept_entries.h"
#include "tfile/streamed_class.h"
#include "tfile/writer.h"

namespace tfilefs {

// One table of the file that is written.
struct TableRequest {
  const RepackOptions& options;
  OpenInputs& inputs;
  std::string path;             // in the first of them
  std::string directory, name;  // in the new file
  // Among the entries that are kept, the numbers of those that this file has; nothing: all.
  std::optional<tfile::EntryRange> share = std::nullopt;
  RefusedFields refused = {};  // as an earlier attempt has shown
  // Entries, counted over all files, that are none of those that are kept: an attempt has found damage in them.
  std::vector<tfile::EntryRange> lost = {};
  bool is_only_table = true;  // of those that are written
};

struct WrittenTable {
  bool written = false;
  tfile::TableFormat format = tfile::TableFormat::tree;
  tfile::KeptEntries kept;  // its entries, counted over all files
  // Raw columns that are kept as their streamers write them, by Column::branch.
  std::map<std::string, tfile::StreamedClass> streamed;
  std::vector<std::int64_t> cluster_ends;  // of the files, as numbers of kept entries
  RepackReport::Table report;
  std::vector<std::string> left_out, renamed;
  std::vector<tfile::EntryRange> lost;              // for damage, counted over all files...
  std::vector<std::string> damage;                  // lines that name it
  std::map<std::string, std::string> source_paths;  // of renamed columns, by their new paths
  std::vector<std::string> friends;                 // aliases of those that it has
  bool needs_columns = false;                       // it cannot be copied by unit, because...
  std::string why;
  RefusedFields refused;  // if there are any, the table is to be written anew, without them
};

// Its columns in all files, and those of its friends. `share`: so many such sources are open. `texts`: what may name
// friends. Errors: those of ChainSource::open().
Result<std::unique_ptr<ChainSource>> open_chain(const TableRequest&, std::uint64_t share = 1,
                                                const FriendNamingTexts& texts = {});

// The parts of its trees beside their columns that are lost where those alone are taken: "its aliases". For
// trees whose parts cannot be told, what they may have. Errors: those of reading.
Result<std::vector<std::string>> extras_of_trees(const TableRequest&);

// Copies baskets or pages. `key`: of the first file. Errors: as repack().
Result<WrittenTable> copy_table(const TableRequest&, const tfile::KeyInfo& key, const TableWork&);
// Copies columns.
Result<WrittenTable> convert_table(const TableRequest&, const tfile::KeyInfo& key, const TableWork&);

// The work of comparing it.
struct VerifyWork {
  ThreadPool& workers;
  std::stop_token stop;
};

// Compares it, as it is in the file of that name, with what it was made of (`kept` and `streamed` say how). Returns
// what could not be compared. Errors: as verify_table().
Result<std::vector<std::string>> verify_written(const TableRequest&, const WrittenTable&, const std::string& out,
                                                const VerifyWork&);

}  // namespace tfilefs
