// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "cache/cluster_cache.h"
#include "summary/column_summary.h"
#include "tfile/table.h"
#include "view/known_ranges.h"

namespace tfilefs {

using SummaryPtr = std::shared_ptr<const ColumnSummary>;

// The column of numbers that a node is, or the items of whose lists they are. Nothing: it is another kind of node.
std::optional<tfile::ColumnId> summarized_column(const tfile::Table&, tfile::NodeId);

// Reads all of a column, piece by piece. The ranges of its row groups are noted on the way, of lists in one file alone:
// in a chain the bounds of groups are in many files, each of which would be opened twice. Errors: those of reading.
void summarize_column(std::shared_ptr<CachedStreams>, std::shared_ptr<const tfile::Table>, tfile::ColumnId, TableRanges,
                      Reply<SummaryPtr>);

}  // namespace tfilefs
