// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "exec/thread_pool.h"
#include "repack/chain_source.h"
#include "reply.h"
#include "tfile/file.h"
#include "tfile/kept_entries.h"
#include "tfile/streamed_class.h"

namespace tfilefs {

struct WrittenForm {
  ChainSource& table;
  tfile::TableFormat format;
  // Raw columns that were kept as their streamers write them, by Column::branch.
  const std::map<std::string, tfile::StreamedClass>& streamed;
  const std::map<std::string, std::string>& source_paths;  // of renamed columns, by their new paths
};

// Reads a table that was written, and what it was made of, and compares all columns that both have, byte for byte.
// `kept`: the entries of `in` that it has. Returns names of what could not be compared. Blocks. Errors: damaged
// (what differs, with its column and entries), those of reading, ECANCELED.
Result<std::vector<std::string>> verify_table(ChainSource& in, const tfile::KeptEntries& kept, const WrittenForm&,
                                              ThreadPool& workers, const std::stop_token& stop);

}  // namespace tfilefs
