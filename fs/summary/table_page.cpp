// SPDX-License-Identifier: Apache-2.0
#include "summary/table_page.h"

#include <algorithm>

#include "bytes_text.h"
#include "query/pictures.h"
#include "view/index_page.h"

namespace tfilefs {
namespace {

constexpr std::size_t kPageColumnsMax = 20'000, kColumnTitleMax = 200;

std::string shown_type(const tfile::Column& column) {
  std::string text(tfile::type_suffix(column.dtype));
  for (const std::uint32_t extent : column.shape) text += "[" + std::to_string(extent) + "]";
  const std::size_t lists = column.lists.size() - (column.role == tfile::Role::offsets ? 1 : 0);
  if (lists > 0) text += lists == 1 ? " in lists" : " in lists of lists";
  if (column.role != tfile::Role::values) text += ", " + std::string(tfile::role_name(column.role));
  return text;
}

bool has_picture(const tfile::Column& column) { return column.role == tfile::Role::values && column.reason.empty(); }

IndexedPlot shown_column(const tfile::Column& column, std::uint64_t stored, std::optional<std::int64_t> length) {
  IndexedPlot shown{"", column.path, bytes_text(static_cast<double>(stored)) + " on disk", shown_type(column)};
  if (length) {
    const double items = static_cast<double>(*length);
    shown.title += ", " + bytes_text(items * static_cast<double>(column.item_size())) + " decoded, " +
                   std::to_string(*length) + " items";
  }
  if (!column.title.empty()) shown.title += "; " + column.title.substr(0, kColumnTitleMax);
  if (!column.reason.empty()) shown.title += "; " + column.reason.substr(0, kColumnTitleMax);
  shown.picture = has_picture(column) && has_pictures() ? ".svg" : "";
  shown.numbers = has_picture(column) ? ".stats.json" : "";
  return shown;
}

}  // namespace

std::string table_page(const tfile::Table& table, const ColumnLengths& lengths,
                       const std::vector<std::uint64_t>& stored) {
  const std::size_t shown = std::min(table.columns.size(), kPageColumnsMax);
  IndexPage page(table.name, shown);
  // Those without a picture, as offsets, would leave every second place empty among the others.
  for (const bool is_drawn : {true, false})
    for (std::size_t i = 0; i < shown; ++i)
      if (has_picture(table.columns[i]) == is_drawn) page.add(shown_column(table.columns[i], stored[i], lengths[i]));
  std::string more = std::to_string(table.entries) + " entries, " + std::to_string(table.columns.size()) + " columns";
  if (shown < table.columns.size()) more += ", of which the first are here";
  return page.take(more);
}

}  // namespace tfilefs
