// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "tree/read/branch_nodes.h"
#include "tree/read/stream_slots.h"
#include "tree/read/trial_baskets.h"

namespace tfile {

// Branches of members of split collections that were filled more or less often than the branch that counts their items,
// so that their items differ from the counts; with the reason. Reads baskets only if numbers of entries differ. An
// unreadable basket is not a contradiction. Blocks. `columns` and `untried` are those of the outline.
std::map<BranchIndex, std::string> contradicted_branches(std::span<const Column> columns, const StreamSlots&,
                                                         std::span<const UntriedBranch> untried,
                                                         std::span<const BranchStorage>, const SourceOfBranch&);

// The offsets column of the innermost list around a column, if it belongs to another stream.
std::optional<ColumnId> list_of_others(std::span<const Column>, const Column&);

}  // namespace tfile
