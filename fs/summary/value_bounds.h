// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/cluster_cache.h"
#include "tfile/table.h"

namespace tfilefs {

// The value of a column that is the first of each row group, then how many there are: each element of each item is a
// value. Of lists it reads the offsets at these places alone. Empty if that cannot be known: offsets cannot be read, or
// contradict each other. `values`: the number of all.
void value_bounds(std::shared_ptr<CachedStreams>, std::shared_ptr<const tfile::Table>, tfile::ColumnId,
                  std::int64_t values, ReadUse, Reply<std::vector<std::int64_t>>);

}  // namespace tfilefs
