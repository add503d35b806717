// SPDX-License-Identifier: Apache-2.0
#include "summary/summarize_column.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "exec/for_each.h"
#include "on_behalf.h"
#include "summary/range_maker.h"
#include "summary/value_bounds.h"
#include "view/column_pieces.h"
#include "view/row_groups.h"

namespace tfilefs {
namespace {

// Bytes that are read and summarized at a time: a millisecond's work.
constexpr std::uint64_t kSummaryPiece = 1 << 20;
constexpr int kListDepthMax = 64;

// The whole column passes through the cache.
constexpr ReadUse kPassing{.chosen = false, .passing = true};

// A column that is summarized, and what is known of it so far.
struct SummaryScan {
  const std::shared_ptr<CachedStreams> streams;
  const std::shared_ptr<const tfile::Table> table;
  const tfile::Column& column;
  const TableRanges known;
  const ColumnRange all;
  SummaryMaker summary{column.dtype};
  std::optional<RangeMaker> ranges{};

  std::int64_t values() const { return static_cast<std::int64_t>(all.size / tfile::size_of(column.dtype)); }
  bool takes_ranges() const;
  void set_bounds(std::vector<std::int64_t> bounds);
  Result<> add(const Slices&);
  SummaryPtr finish();
};
using SummaryScanPtr = std::shared_ptr<SummaryScan>;

bool SummaryScan::takes_ranges() const {
  if (!known.all || (!column.lists.empty() && streams->files())) return false;
  const std::int64_t groups = std::max<std::int64_t>(0, table->entries) / kGroupRowsMax;  // or more
  return known.all->has_room(known.table, static_cast<std::size_t>(groups));
}

void SummaryScan::set_bounds(std::vector<std::int64_t> bounds) {
  if (bounds.size() > 1 && known.all->has_room(known.table, bounds.size() - 1))
    ranges.emplace(column.dtype, std::move(bounds));
}

Result<> SummaryScan::add(const Slices& slices) {
  for (const auto bytes : slices.pieces) {
    TRY_VOID(summary.add(bytes));
    if (ranges) ranges->add(bytes);
  }
  return {};
}

SummaryPtr SummaryScan::finish() {
  if (ranges) known.all->note(known.table, column, ranges->take());
  return std::make_shared<const ColumnSummary>(summary.finish());
}

void summarize_items(const SummaryScanPtr& scan, Reply<SummaryPtr> reply) {
  const ColumnRange& all = scan->all;
  const std::uint64_t piece = std::max<std::uint64_t>(1, kSummaryPiece / all.item_size) * all.item_size;
  auto read = [scan, piece](std::size_t i, Reply<void> done) {
    ColumnRange range = scan->all;
    range.offset = i * piece;
    range.size = std::min(piece, range.size - range.offset);
    auto add = [scan](const Slices& slices) { return scan->add(slices); };
    // Chunks in the cache are summarized by the thread that reads them here.
    auto shared = std::make_shared<Reply<Slices>>(answer_with<Slices>(std::move(done), std::move(add)));
    scan->streams->run_view_job(
        [scan, range, shared] { read_whole(*scan->streams, range, kPassing, std::move(*shared)); });
  };
  auto finish = [scan] { return scan->finish(); };
  for_each((all.size + piece - 1) / piece, std::move(read), answer_with<void>(std::move(reply), std::move(finish)));
}

void summarize_groups(const SummaryScanPtr& scan, Reply<SummaryPtr> reply) {
  if (!scan->takes_ranges()) return summarize_items(scan, std::move(reply));
  auto go_on = [scan](std::vector<std::int64_t> bounds, Reply<SummaryPtr> done) {
    scan->set_bounds(std::move(bounds));
    summarize_items(scan, std::move(done));
  };
  const auto id = static_cast<tfile::ColumnId>(&scan->column - scan->table->columns.data());
  value_bounds(scan->streams, scan->table, id, scan->values(), kPassing,
               value_for<std::vector<std::int64_t>>(std::move(reply), std::move(go_on)));
}

}  // namespace

std::optional<tfile::ColumnId> summarized_column(const tfile::Table& table, tfile::NodeId id) {
  for (int depth = 0; depth < kListDepthMax; ++depth) {
    const tfile::Node& node = table.nodes[id];
    if (node.column) {
      const bool is_of_numbers = table.columns[*node.column].role == tfile::Role::values;
      return is_of_numbers ? node.column : std::nullopt;
    }
    const bool is_list = node.kind == tfile::NodeKind::list || node.kind == tfile::NodeKind::optional;
    if (!is_list || node.children.size() != 2) return std::nullopt;
    id = node.children[1];
  }
  return std::nullopt;
}

void summarize_column(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
                      tfile::ColumnId id, TableRanges known, Reply<SummaryPtr> reply) {
  const tfile::Column& column = table->columns[id];
  auto read = [streams, table, &column, known = std::move(known)](std::int64_t length, Reply<SummaryPtr> done) {
    ColumnRange all = range_of_items(column, 0, 0);
    all.size = static_cast<std::uint64_t>(std::max<std::int64_t>(0, length)) * all.item_size;
    summarize_groups(std::make_shared<SummaryScan>(SummaryScan{streams, table, column, known, all}), std::move(done));
  };
  streams->length(column.stream, column.slot, value_for<std::int64_t>(std::move(reply), std::move(read)));
}

}  // namespace tfilefs
