// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/table_views.h"

#include <algorithm>

#include "on_behalf.h"
#include "query/pictures.h"
#include "summary/summarize_column.h"
#include "summary/summary_files.h"
#include "summary/table_page.h"
#include "vfs/names/names.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/loaded_table.h"
#include "view/chain/composed_table.h"
#include "view/column_lengths.h"
#include "view/node_table.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::NodeId;
using tfile::Table;
using Where = TableView::Where;
using LoadedPtr = std::shared_ptr<const LoadedTable>;
using Made = Reply<std::shared_ptr<Content>>;

bool always(const Table&, NodeId) { return true; }
bool is_column(const Table& table, NodeId node) { return table.nodes[node].column.has_value(); }
bool table_has_csv(const Table& table, NodeId) { return has_csv(table); }

// Ten thousand columns make megabytes of text: not on the thread of the asking request.
template <class Make>
void text_of_table(const ViewedNode& of, Made reply, Make make) {
  // A table that was let go and opened again may know other lengths.
  auto show = [](std::string text) -> std::shared_ptr<Content> {
    const std::uint64_t making = std::hash<std::string>()(text);
    return std::make_shared<FixedContent>(std::move(text), making);
  };
  auto shared = std::make_shared<Reply<std::string>>(answer_with<std::string>(std::move(reply), std::move(show)));
  run_job(of.cache, [loaded = of.loaded.shared_from_this(), shared, make = std::move(make)] {
    make(loaded, std::move(*shared));
  });
}
void schema(const ViewedNode& of, Made reply) {
  text_of_table(of, std::move(reply), [](const LoadedPtr& loaded, Reply<std::string> done) {
    auto write = [loaded](const LoadedTable::LengthsPtr& lengths) {
      return schema_text(loaded->table(), *lengths, loaded->streams()->files(), loaded->chosen_by());
    };
    loaded->lengths_in_texts(answer_with<LoadedTable::LengthsPtr>(std::move(done), std::move(write)));
  });
}
void awkward(const ViewedNode& of, Made reply) {
  text_of_table(of, std::move(reply), [](const LoadedPtr& loaded, Reply<std::string> done) {
    auto write = [loaded](const LoadedTable::LengthsPtr& lengths) { return awkward_text(loaded->table(), *lengths); };
    loaded->lengths_in_texts(answer_with<LoadedTable::LengthsPtr>(std::move(done), std::move(write)));
  });
}
// A stream is divided among its columns by their lengths: the page is the same each time once all of them are known.
void page(const ViewedNode& of, Made reply) {
  text_of_table(of, std::move(reply), [table = of.table](const LoadedPtr& loaded, Reply<std::string> done) {
    auto write = [loaded, table](const ColumnLengths& lengths) {
      std::vector<std::uint64_t> stored;
      for (tfile::ColumnId id = 0; id < table->columns.size(); ++id) stored.push_back(loaded->stored_bytes(id));
      return table_page(*table, lengths, stored);
    };
    column_lengths(loaded->streams(), table, true, answer_with<ColumnLengths>(std::move(done), std::move(write)));
  });
}
template <TextStyle style>
void lines_of_table(const ViewedNode& of, Made reply) {
  table_text_content(of.streams, of.table, style, std::move(reply));
}
void arrow(const ViewedNode& of, Made reply) { arrow_content(of.streams, of.table, of.strings, std::move(reply)); }
void parquet(const ViewedNode& of, Made reply) {
  parquet_content(of.streams, of.table, of.strings, of.loaded.fixed_ranges(), std::move(reply));
}
void text(const ViewedNode& of, Made reply) { text_content(of.streams, of.table, of.node, std::move(reply)); }
void option(const ViewedNode& of, Made reply) { option_index_content(of.streams, of.table, of.node, std::move(reply)); }

// Branches that are not resolved yet may have lists of numbers.
bool may_have_numbers(const Table& table, NodeId node) {
  return table.is_unresolved(node) || summarized_column(table, node).has_value();
}
bool may_have_picture(const Table& table, NodeId node) { return has_pictures() && may_have_numbers(table, node); }
// Listings do not show what reads a whole column to know its size, nor second names.
bool is_not_listed(const Table&, NodeId) { return false; }
template <std::string (*write)(const ColumnSummary&, const tfile::Column&)>
void summary_of(const ViewedNode& of, Made reply) {
  const auto id = summarized_column(*of.table, of.node);
  if (!id) return reply(no_such_view("no column of numbers"));
  auto show = [table = of.table, id](const SummaryPtr& summary) -> std::shared_ptr<Content> {
    return std::make_shared<FixedContent>(write(*summary, table->columns[*id]));
  };
  of.loaded.summary(*id, answer_with<SummaryPtr>(std::move(reply), std::move(show)));
}

// A table that is made of others has no baskets of its own.
bool may_have_baskets(const Table& table, NodeId node) {
  return (table.is_unresolved(node) || is_column(table, node)) && !dynamic_cast<const ComposedTable*>(&table);
}
void baskets(const ViewedNode& of, Made reply) {
  if (!is_column(*of.table, of.node)) return reply(no_such_view("no column"));
  const tfile::Column& column = of.table->columns[*of.table->nodes[of.node].column];
  const auto first = of.table->locate({column.stream, 0});
  const tfile::ServerId origin = first && first->source ? first->source->origin() : tfile::kLocalOrigin;
  text_of_table(of, std::move(reply),
                [&cache = of.cache, origin, table = of.table, &column](const LoadedPtr&, Reply<std::string> done) {
                  auto write = [table, &column]() -> Result<std::string> { return baskets_text(*table, column); };
                  answer_reading(cache, origin, std::move(write), std::move(done));
                });
}

// The text of the columns of one node.
void csv_of_node(const ViewedNode& of, Made reply) {
  table_text_content(of.streams, table_of_node(of.table, of.node), TextStyle::csv_cells, std::move(reply));
}
void parquet_of_node(const ViewedNode& of, Made reply) {
  parquet_content(of.streams, table_of_node(of.table, of.node), of.strings, of.loaded.fixed_ranges(), std::move(reply));
}

constexpr TableView kViews[] = {
    {".arrow", Where::beside_table, ViewKind::arrow, always, always, arrow},
    {".parquet", Where::beside_table, ViewKind::parquet, always, always, parquet},
    {".csv", Where::beside_table, ViewKind::csv, always, table_has_csv, lines_of_table<TextStyle::csv>},
    {".jsonl", Where::beside_table, ViewKind::jsonl, always, always, lines_of_table<TextStyle::json>},
    {".feather", Where::beside_table, ViewKind::arrow, always, is_not_listed, arrow},  // version 2 is an Arrow file
    {".json", Where::beside_table, ViewKind::json, always, is_not_listed, lines_of_table<TextStyle::json_array>},
    {kSchemaName, Where::in_table, ViewKind::schema, always, always, schema},
    {kAwkwardName, Where::in_table, ViewKind::awkward, always, always, awkward},
    {kIndexName, Where::in_table, ViewKind::index, always, always, page},
    {kOptionIndexName, Where::in_node, ViewKind::option_index, has_option_index, has_option_index, option},
    {kNpySuffix, Where::beside_node, ViewKind::npy, is_column, is_column, nullptr},
    {kTextSuffix, Where::beside_node, ViewKind::text, always, has_text, text},
    {kStatsSuffix, Where::beside_node, ViewKind::column_stats, may_have_numbers, is_not_listed,
     summary_of<summary_json>},
    {kPictureSuffix, Where::beside_node, ViewKind::column_picture, may_have_picture, is_not_listed,
     summary_of<summary_picture>},
    {kBasketsSuffix, Where::beside_node, ViewKind::column_baskets, may_have_baskets, is_not_listed, baskets},
    {".csv", Where::beside_node, ViewKind::column_csv, is_top_node, is_not_listed, csv_of_node},
    {".parquet", Where::beside_node, ViewKind::column_parquet, is_top_node, is_not_listed, parquet_of_node}};

}  // namespace

std::span<const TableView> table_views() { return kViews; }

std::optional<BesideTable> beside_table(std::string_view name) {
  for (const TableView& view : kViews) {
    const auto table = view.where == Where::beside_table ? without_suffix(name, view.name) : std::nullopt;
    if (table) return BesideTable{*table, view.shown_as};
  }
  return std::nullopt;
}

const TableView& table_view(ViewKind shown_as) {
  return *std::find_if(std::begin(kViews), std::end(kViews),
                       [&](const TableView& view) { return view.shown_as == shown_as; });
}

}  // namespace tfilefs
