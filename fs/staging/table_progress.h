// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "staging/cluster_cut.h"
#include "staging/staged_table.h"
#include "tfile/writer.h"

namespace tfilefs {

// How far a table is with what is staged in it.
struct TableProgress {
  std::int64_t entries = 0;  // of the branch with the fewest
  std::vector<BranchProgress> branches;
  bool can_be_cut = false;           // nothing but entries is missing, or a writer still at work
  bool whole = false;                // all branches have as many, and nothing lacks a part
  std::vector<std::string> reasons;  // why it is not whole, a line each
};

// `committed`: where the file has a table of that name, else null.
TableProgress progress_of(const StagedTable&, const CommittedTable* committed);

}  // namespace tfilefs
