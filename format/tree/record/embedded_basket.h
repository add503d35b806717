// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bytes/cursor.h"
#include "tree/record/tree_record.h"

namespace tfile {

// Reads a TBasket inside a tree's record, from its key on (docs/format.md, "Embedded baskets"). Leaves `index` at 0. A
// basket that was never filled has no data. A failure stays with the cursor.
EmbeddedBasket read_embedded_basket(Cursor& in);

}  // namespace tfile
