// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "staging/journal/file_place.h"

namespace tfilefs {

// A line about what a writer that ended has left in the journal beside the file: which names, and how to get them.
// Nothing where there is no journal, or where all of it is in the file. Changes nothing, and stops no writer. Blocks.
// Error: busy (its writer is still at work).
Result<std::optional<std::string>> left_in_journal(const FilePlace&);

}  // namespace tfilefs
