// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "vfs/nodes/column_vnodes.h"

namespace tfilefs {

// Names in the directory of a table with an expression in them: ".where=EXPR", a view of that table, and
// ".draw=EXPR;CUT;BINS;RANGES".
bool is_of_expression(std::string_view name);

// The entry of such a name. An expression that is wrong is found at once (invalid, and a line in .tfilefs/errors);
// the table is read when the directory is entered, for the kernel ends no look-up.
void find_of_expression(std::shared_ptr<const ColumnVnodes>, std::string_view name, Reply<FoundEntry>);

}  // namespace tfilefs
