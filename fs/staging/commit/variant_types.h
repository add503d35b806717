// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "staging/overlay/staged_table.h"

namespace tfilefs {

// Finds the types of new variants on whose directories none was set, where the numbers of items leave no doubt which
// alternative belongs to which tag, and notes them in StagedTable::classes. That holds only once all items are there.
// Returns whether it has noted any. Blocks to read tags that were not looked at.
bool find_variant_types(StagedTable&);

}  // namespace tfilefs
