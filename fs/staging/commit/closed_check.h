// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "staging/overlay/overlay.h"
#include "staging/overlay/staging_memory.h"

namespace tfilefs {

// The table that a staged Arrow file becomes. Blocks. Errors: as read_staged_arrow; invalid (columns that contradict
// each other).
Result<StagedTable> arrow_table(const StagedArrow&, StagingMemory&);

// Whether a staged Arrow file can become a table; an incomplete one may. Blocks. Errors: as arrow_table.
Result<> check_arrow(const NodePtr&, StagingMemory&);

// is_to_be_checked(): whether the contents of a staged file show if it can ever be committed (NAME.arrow, offsets,
// NAME.npy), judging by its name. check_closed(): whether it can. Blocks. Error: invalid.
bool is_to_be_checked(const Overlay& overlay, const StagedNode&) EXCLUDES(overlay);
Result<> check_closed(Overlay& overlay, const NodePtr&, StagingMemory&) EXCLUDES(overlay);

}  // namespace tfilefs
