// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "staging/overlay/staged_table.h"
#include "tfile/writer.h"

namespace tfilefs {

// How far a field has come: its complete entries, and when it was written.
struct FieldProgress {
  using Time = SteadyClock::Time;
  std::int64_t entries = 0;
  Time first_write{}, last_write{};
};

// Whether the fields grow together: each was written after the last of them had got its first bytes. While fields still
// arrive one after the other, another one may come, and the entries cut so far would have to be written again. Pure.
bool in_step(std::span<const FieldProgress>);

// How complete a table is, with its staged contents.
struct TableProgress {
  std::int64_t entries = 0;  // complete in every field
  std::vector<FieldProgress> fields;
  bool can_be_cut = false;            // only entries are missing, or a writer is still at work
  bool whole = false;                 // all fields have equally many, and no part is missing or superfluous
  std::vector<std::string> reasons;   // why it is not whole, a line each
  std::vector<std::string> hopeless;  // those that more bytes cannot remove, and that were not reported yet
};

// `committed`: the table of that name in the file, null if there is none. Sets where lists begin in each column of
// offsets, and which column counts lists of arrays. Reads offsets: blocks to read bytes in the journal, or in the file.
TableProgress progress_of(StagedTable&, const CommittedTable* committed);

}  // namespace tfilefs
