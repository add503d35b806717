// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "summary/column_summary.h"
#include "tfile/node.h"

namespace tfilefs {

// COLUMN.stats.json: the numbers of a summary. Those that are not there are null.
std::string summary_json(const ColumnSummary&, const tfile::Column&);

// COLUMN.svg: its histogram.
std::string summary_picture(const ColumnSummary&, const tfile::Column&);

}  // namespace tfilefs
