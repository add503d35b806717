// SPDX-License-Identifier: Apache-2.0
#include "object/object_table.h"

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "object/efficiency.h"
#include "object/graph_numbers.h"
#include "object/histogram.h"
#include "object/object_plots.h"
#include "streamer/walk/object_reader.h"

namespace tfile {
namespace {

void add_column(Spreadsheet& sheet, std::string name, std::vector<double> values) {
  sheet.names.push_back(std::move(name));
  sheet.columns.push_back(std::move(values));
}

// Adds columns with the edges of each cell.
std::vector<std::vector<double>> add_borders(Spreadsheet& sheet, const ObjectMembers& members,
                                             const std::string& prefix, const HistogramBins& h) {
  std::vector<std::vector<double>> edges;
  for (std::size_t i = 0; i < h.bins.size(); ++i) {
    edges.push_back(axis_edges(members, prefix + kTableAxes[i].first, h.bins[i]));
    add_column(sheet, std::string(kTableAxes[i].second) + "_low", {});
    add_column(sheet, std::string(kTableAxes[i].second) + "_high", {});
  }
  each_inner_cell(h, [&](std::uint64_t, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    const std::uint64_t at[] = {x, y, z};
    for (std::size_t i = 0; i < edges.size(); ++i) {
      sheet.columns[2 * i].push_back(edges[i][at[i]]);
      sheet.columns[2 * i + 1].push_back(edges[i][at[i] + 1]);
    }
  });
  for (std::size_t i = 0; i < h.bins.size(); ++i) {
    const auto of_axis = axis_labels(members, prefix + kTableAxes[i].first, h.bins[i]);
    if (of_axis.empty()) continue;
    sheet.text_names.push_back(std::string(kTableAxes[i].second) + "_label");
    std::vector<std::string>& labels = sheet.texts.emplace_back();
    each_inner_cell(h, [&](std::uint64_t, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
      const std::uint64_t at[] = {x, y, z};
      labels.push_back(of_axis[at[i]]);
    });
  }
  return edges;
}

Result<Spreadsheet> histogram_sheet(const ObjectKind& kind, const ObjectMembers& members) {
  TRY(const HistogramBins h, small_bins(members, "", kind.dimensions));
  Spreadsheet sheet;
  add_borders(sheet, members, "", h);
  const bool is_profile = kind.family == ObjectFamily::profile;
  const HistogramCells cells(members, "", kind.dimensions, is_profile);
  std::vector<double> values, errors, entries;
  each_inner_cell(h, [&](std::uint64_t cell, auto...) {
    values.push_back(cells.value(cell));
    errors.push_back(std::sqrt(cells.variance(cell)));
    if (is_profile) entries.push_back(cells.effective_entries(cell));
  });
  add_column(sheet, "value", std::move(values));
  add_column(sheet, "error", std::move(errors));
  if (is_profile) add_column(sheet, "effective_entries", std::move(entries));
  return sheet;
}

Result<Spreadsheet> efficiency_sheet(const StreamerInfos& infos, const ObjectMembers& members, Effort& effort) {
  const std::size_t dimensions = efficiency_dimensions(infos, members);
  if (dimensions == 0)
    return fail(ErrorKind::damaged, "efficiency: fTotalHistogram is not a histogram, but '" +
                                        std::string(members.class_name("fTotalHistogram")) + "'");
  TRY(const EfficiencyCells cells, efficiency_cells(members, dimensions));
  Spreadsheet sheet;
  add_borders(sheet, members, "fTotalHistogram.", cells.bins);
  std::vector<double> values, low, high, passed, total;
  each_inner_cell(cells.bins, [&](std::uint64_t cell, auto...) {
    const Interval interval = cells.interval(cell, effort);
    values.push_back(cells.value(cell));
    low.push_back(interval.low);
    high.push_back(interval.high);
    passed.push_back(cells.passed[cell]);
    total.push_back(cells.total[cell]);
  });
  TRY_VOID(effort.check());
  add_column(sheet, "efficiency", std::move(values));
  add_column(sheet, "interval_low", std::move(low));
  add_column(sheet, "interval_high", std::move(high));
  add_column(sheet, "passed", std::move(passed));
  add_column(sheet, "total", std::move(total));
  return sheet;
}

Spreadsheet graph_sheet(const ObjectMembers& members) {
  GraphNumbers g = graph_numbers(members);
  const std::size_t n = g.x.size();
  Spreadsheet sheet;
  add_column(sheet, "x", std::move(g.x));
  add_column(sheet, "y", std::move(g.y));
  if (auto z = members.doubles("fZ"); z.size() == n && n > 0) add_column(sheet, "z", std::move(z));
  for (auto [name, values] : {std::pair("x_error_low", &g.x_low), std::pair("x_error_high", &g.x_high),
                              std::pair("y_error_low", &g.y_low), std::pair("y_error_high", &g.y_high)}) {
    if (!values->empty()) add_column(sheet, name, std::move(*values));
  }
  // TGraph2DErrors has one error of z, TGraph2DAsymmErrors two.
  for (const auto& [name, one, each] :
       {std::tuple("z_error_low", "fEZ", "fEZlow"), {"z_error_high", "fEZ", "fEZhigh"}}) {
    auto values = members.doubles(one);
    if (values.empty()) values = members.doubles(each);
    if (values.size() == n && n > 0) add_column(sheet, name, std::move(values));
  }
  for (std::size_t i = 0; i < g.each_low.size(); ++i)
    add_column(sheet, "y_error_low" + std::to_string(i), std::move(g.each_low[i]));
  for (std::size_t i = 0; i < g.each_high.size(); ++i)
    add_column(sheet, "y_error_high" + std::to_string(i), std::move(g.each_high[i]));
  return sheet;
}

// The box around each bin, and its content.
Spreadsheet polygons_sheet(const ObjectMembers& members) {
  static constexpr std::pair<const char*, const char*> kColumns[] = {{"x_low", ".fXmin"}, {"x_high", ".fXmax"},
                                                                     {"y_low", ".fYmin"}, {"y_high", ".fYmax"},
                                                                     {"area", ".fArea"},  {"value", ".fContent"}};
  Spreadsheet sheet;
  for (const auto& [name, member] : kColumns) add_column(sheet, name, {});
  for (std::size_t i = 0;; ++i) {
    const std::string bin = members.target("fBins.arr." + std::to_string(i));
    if (!is_polygon_bin(members, bin)) return sheet;
    for (std::size_t column = 0; column < std::size(kColumns); ++column)
      sheet.columns[column].push_back(members.number(bin + kColumns[column].second).value_or(0));
  }
}

}  // namespace

bool is_polygons(const StreamerInfos& infos, std::string_view class_name) {
  return derives_from(infos, class_name, "TH2Poly");
}

bool is_polygon_bin(const ObjectMembers& members, const std::string& bin) {
  return members.class_name(bin).ends_with("PolyBin");  // TH2PolyBin, TProfile2PolyBin
}

bool can_tabulate(const ObjectKind& kind, const StreamerInfos& infos, const ObjectMembers& members) {
  const std::string_view class_name = members.class_name("");
  switch (kind.family) {
    case ObjectFamily::histogram:
    case ObjectFamily::profile:
    case ObjectFamily::efficiency:
    case ObjectFamily::graph:
    case ObjectFamily::dense:
    case ObjectFamily::sparse:
      return true;
    case ObjectFamily::other:
      return check_curve(infos, members) || is_polygons(infos, class_name);
  }
  return false;
}

Result<Spreadsheet> object_spreadsheet(const StreamerInfos& infos, const ObjectMembers& members, Effort& effort) {
  const std::string_view class_name = members.class_name("");
  const ObjectKind kind = kind_of_object(infos, class_name);
  switch (kind.family) {
    case ObjectFamily::histogram:
    case ObjectFamily::profile:
      return histogram_sheet(kind, members);
    case ObjectFamily::efficiency:
      return efficiency_sheet(infos, members, effort);
    case ObjectFamily::graph:
      return graph_sheet(members);
    case ObjectFamily::dense:
    case ObjectFamily::sparse:
      return fail(ErrorKind::invalid, "a histogram of many dimensions has its table in pieces");
    default: {
      if (is_polygons(infos, class_name)) return polygons_sheet(members);
      TRY(PlotPoints curve, sampled_function(members, effort));
      Spreadsheet sheet;
      add_column(sheet, "x", std::move(curve.xs));
      add_column(sheet, "y", std::move(curve.ys));
      return sheet;
    }
  }
}

}  // namespace tfile
