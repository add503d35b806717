// SPDX-License-Identifier: Apache-2.0
#include "summary/summarize_column.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "exec/for_each.h"
#include "on_behalf.h"
#include "view/column_pieces.h"

namespace tfilefs {
namespace {

// Bytes that are read and summarized at a time: a millisecond's work.
constexpr std::uint64_t kSummaryPiece = 1 << 20;
constexpr int kListDepthMax = 64;

// The whole column passes through the cache.
constexpr ReadUse kPassing{.chosen = false, .passing = true};

void summarize_items(std::shared_ptr<CachedStreams> streams, const ColumnRange& all, tfile::Dtype dtype,
                     Reply<SummaryPtr> reply) {
  const std::uint64_t piece = std::max<std::uint64_t>(1, kSummaryPiece / all.item_size) * all.item_size;
  auto maker = std::make_shared<SummaryMaker>(dtype);
  auto read = [streams, all, piece, maker](std::size_t i, Reply<void> told) {
    ColumnRange range = all;
    range.offset = i * piece;
    range.size = std::min(piece, all.size - range.offset);
    auto add = [maker](const Slices& slices) -> Result<void> {
      for (const auto bytes : slices.pieces) TRY_VOID(maker->add(bytes));
      return {};
    };
    // What is in the cache is summarized by the thread that reads it here.
    auto shared = std::make_shared<Reply<Slices>>(answer_with<Slices>(std::move(told), std::move(add)));
    streams->run_view_job([streams, range, shared] { read_whole(*streams, range, kPassing, std::move(*shared)); });
  };
  auto finish = [maker] { return std::make_shared<const ColumnSummary>(maker->finish()); };
  for_each((all.size + piece - 1) / piece, std::move(read), answer_with<void>(std::move(reply), std::move(finish)));
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

void summarize_column(std::shared_ptr<CachedStreams> streams, const tfile::Column& column, Reply<SummaryPtr> reply) {
  auto read = [streams, all = range_of_items(column, 0, 0), dtype = column.dtype](std::int64_t length,
                                                                                  Reply<SummaryPtr> told) mutable {
    all.size = static_cast<std::uint64_t>(std::max<std::int64_t>(0, length)) * all.item_size;
    summarize_items(streams, all, dtype, std::move(told));
  };
  streams->length(column.stream, column.slot, value_for<std::int64_t>(std::move(reply), std::move(read)));
}

}  // namespace tfilefs
