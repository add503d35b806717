// SPDX-License-Identifier: Apache-2.0
#include "view/row_groups.h"

#include <algorithm>

namespace tfilefs {

std::shared_ptr<const std::vector<std::int64_t>> row_group_bounds(const tfile::Table& table) {
  const std::int64_t rows = std::clamp<std::int64_t>(table.entries, 0, kParquetRowsMax);
  std::vector<std::int64_t> ends = table.clusters;
  ends.push_back(rows);
  auto bounds = std::make_shared<std::vector<std::int64_t>>(1, 0);
  for (const std::int64_t end : ends) {
    if (end <= bounds->back() || end > rows || (end < rows && end - bounds->back() < kGroupRowsMin)) continue;
    while (end - bounds->back() > kGroupRowsMax) bounds->push_back(bounds->back() + kGroupRowsMax);
    bounds->push_back(end);
  }
  return bounds;
}

}  // namespace tfilefs
