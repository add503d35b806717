// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "staging/commit/field_progress.h"
#include "staging/overlay/staged_table.h"
#include "tfile/writer.h"

namespace tfilefs {

// How far a table is with what is staged in it.
struct TableProgress {
  std::int64_t entries = 0;  // that lack nothing in any field
  std::vector<FieldProgress> fields;
  bool can_be_cut = false;            // nothing but entries is missing, or a writer still at work
  bool whole = false;                 // all fields have as many, and nothing lacks a part, or has one too much
  std::vector<std::string> reasons;   // why it is not whole, a line each
  std::vector<std::string> hopeless;  // those of them that no more bytes can mend, and nobody was told of
};

// `committed`: where the file has a table of that name, else null. Sets where lists begin in each column of offsets,
// and what counts lists of arrays. Reads offsets: blocks for what is in the journal, or where only the file can tell.
TableProgress progress_of(StagedTable&, const CommittedTable* committed);

}  // namespace tfilefs
