// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "cache/cluster_cache.h"
#include "summary/column_summary.h"
#include "tfile/table.h"

namespace tfilefs {

using SummaryPtr = std::shared_ptr<const ColumnSummary>;

// The column of numbers that a node is, or the items of whose lists they are. Nothing: it is another kind of node.
std::optional<tfile::ColumnId> summarized_column(const tfile::Table&, tfile::NodeId);

// Reads all of a column, piece by piece. Errors: those of reading.
void summarize_column(std::shared_ptr<CachedStreams>, const tfile::Column&, Reply<SummaryPtr>);

}  // namespace tfilefs
