// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tree/record/tree_record.h"

namespace tfile {

// The first entry of each cluster, and then the number of entries: what fClusterRangeEnd, fClusterSize and fAutoFlush
// tell, or else where the baskets of all branches begin together. Empty where neither says anything.
std::vector<std::int64_t> cluster_boundaries(const TreeRecord& tree);

}  // namespace tfile
