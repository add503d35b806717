// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tree/record/tree_record.h"

namespace tfile {

// The first entry of each cluster, then the number of entries. The boundaries come from fClusterRangeEnd, fClusterSize
// and fAutoFlush or, without these, are the entries at which baskets of all branches begin. Empty if neither gives any.
std::vector<std::int64_t> cluster_boundaries(const TreeRecord& tree);

}  // namespace tfile
