// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "repack/chain_source.h"
#include "reply.h"
#include "tfile/kept_entries.h"
#include "tfile/range.h"

namespace tfilefs {

// "10:20", "10:", ":20": from the first up to, but not including, the second; without it, to the end (INT64_MAX).
std::optional<tfile::EntryRange> parse_entries(std::string_view);

// The entries that a mask (a truth value for each entry) or an index (numbers of entries, ascending) chooses, and how
// many entries a mask has (-1: an index).
struct ChosenEntries {
  tfile::KeptEntries kept;
  std::int64_t of = -1;
};

// Whether a selection names a file: it ends in ".npy", ".b1" or ".i8" and is there. Else it is the name of a column.
bool is_selection_file(const std::string& name);
// Errors: invalid (neither a mask nor an index; numbers that do not ascend), io.
Result<ChosenEntries> read_selection(const std::string& file);
// A column of one truth value or number for each entry. Blocks. Errors: not_found, invalid, those of reading.
Result<ChosenEntries> select_by_column(ChainSource&, const std::string& column);

}  // namespace tfilefs
