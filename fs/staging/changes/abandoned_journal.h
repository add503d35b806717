// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "staging/journal/file_place.h"

namespace tfilefs {

// A line about the data that a writer which has ended left in the journal beside the file, or beside another of its
// names: which names, and how to recover them. Nothing if there is no journal, or if all its data is in the file.
// Changes nothing, and does not disturb a writer. Blocks. Error: busy (its writer is still at work).
Result<std::optional<std::string>> left_in_journal(const FilePlace&);

}  // namespace tfilefs
