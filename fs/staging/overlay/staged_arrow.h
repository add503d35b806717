// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "staging/overlay/staged_table.h"
#include "staging/overlay/staging_memory.h"

namespace tfilefs {

// "Events" for "Events.arrow": the table that a staged file of that name becomes, unless it is in a table.
std::optional<std::string> arrow_table_name(std::string_view file_name);

// The table, with its columns; `memory` must outlive them. Blocks. Errors: as arrow_columns; invalid (an unfinished
// file).
Result<StagedTable> read_staged_arrow(const StagedArrow&, StagingMemory&);

}  // namespace tfilefs
