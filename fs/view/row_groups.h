// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tfile/table.h"

namespace tfilefs {

// Groups of rows follow the clusters. Readers work on groups in parallel (DuckDB's own have 122,880 rows), and each
// group costs some hundred bytes of footer per column. So clusters are joined up to kGroupRowsMin, and cut at
// kGroupRowsMax.
inline constexpr std::int64_t kGroupRowsMin = 1 << 18, kGroupRowsMax = 1 << 20;
inline constexpr std::int64_t kParquetRowsMax = std::int64_t{1} << 40;  // as many groups as fit in memory

// The first row of each row group of a table's Parquet file, then the number of rows. Pure.
std::shared_ptr<const std::vector<std::int64_t>> row_group_bounds(const tfile::Table&);

}  // namespace tfilefs
