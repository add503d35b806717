// SPDX-License-Identifier: Apache-2.0
#include "plot/object_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "object/efficiency.h"
#include "object/fill_buffer.h"
#include "object/graph_numbers.h"
#include "object/held_items.h"
#include "object/histogram.h"
#include "object/object_plots.h"
#include "object/object_table.h"
#include "plot/canvas_plot.h"
#include "plot/function.h"
#include "streamer/walk/object_reader.h"

namespace tfile {
namespace {

// The most bins, across a map, or along one dimension: a picture shows no more, and they are joined.
constexpr std::uint64_t kMapAcross = 480, kStepsAcross = 8'000;
static_assert(std::max(kMapAcross * kMapAcross, kStepsAcross) == kDrawnJoined);
constexpr std::uint64_t kCellsTogether = 64 << 10;  // read at a time

// Times of an axis count from the offset in the axis' format, "%H:%M%F2024-01-01 00:00:00", or from 1995.
constexpr double kRootEpoch = 788918400;  // 1995-01-01 00:00:00 UTC

double time_offset(std::string_view format) {
  const auto at = format.find("%F");
  if (at == format.npos) return kRootEpoch;
  int year = 1995, month = 1, day = 1, hour = 0, minute = 0, second = 0;
  const std::string date(format.substr(at + 2, 40));
  if (std::sscanf(date.c_str(), "%d-%d-%d %d:%d:%d", &year, &month, &day, &hour, &minute, &second) < 3)
    return kRootEpoch;
  // Days since the epoch of a date in the Gregorian calendar, with months counted from March.
  const int y = month <= 2 ? year - 1 : year, m = (month + 9) % 12;
  const double days = 365.0 * y + std::floor(y / 4.0) - std::floor(y / 100.0) + std::floor(y / 400.0) +
                      std::floor((153 * m + 2) / 5.0) + day - 1 - 719468;
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

// `step`: so many bins are joined.
PlotAxis axis_of(const ObjectMembers& members, const std::string& path, std::uint32_t bins, std::uint64_t step = 1) {
  PlotAxis axis;
  axis.title = members.text(path + ".fTitle");
  const AxisBins all(members, path, bins);
  for (std::uint64_t i = 0; i < bins; i += step) axis.edges.push_back(all.edge(i));
  if (bins > 0) axis.edges.push_back(all.edge(bins));
  axis.is_time = members.number(path + ".fTimeDisplay").value_or(0) != 0;
  if (axis.is_time) axis.time_offset = time_offset(members.text(path + ".fTimeFormat"));
  if (step == 1) axis.labels = axis_labels(members, path, bins);
  constexpr std::int64_t kRangeBit = 1 << 11;  // TAxis::kAxisRange: only fFirst to fLast are shown
  const std::int64_t first = members.integer(path + ".fFirst", 0), last = members.integer(path + ".fLast", 0);
  if ((members.integer(path + ".fBits", 0) & kRangeBit) != 0 && first <= last && last >= 1 && first <= bins) {
    axis.low = all.edge(static_cast<std::uint64_t>(std::max<std::int64_t>(first - 1, 0)));
    axis.high = all.edge(static_cast<std::uint64_t>(std::min<std::int64_t>(last, bins)));
  }
  return axis;
}

// Chooses the drawing of a one-dimensional histogram: by its option, else depending on errors. Returns whether it shows
// errors.
bool set_steps(PlotBins& plot, std::string option, bool has_errors) {
  if (const auto same = option.find("same"); same != option.npos) option.erase(same, 4);
  const auto has = [&](std::string_view word) { return option.find(word) != option.npos; };
  const bool is_outline = has("hist");
  const bool shows_errors = plot.is_profile || (!is_outline && (has_errors || has("e")));
  plot.has_points = !is_outline && (shows_errors || has("p"));
  plot.has_steps = !plot.is_profile && (is_outline || !(has("e") || has("p")));
  plot.has_boxes = shows_errors && has("e2");
  plot.is_smooth = has("e4") || has("e6");
  plot.is_band = shows_errors && (has("e3") || has("e5") || plot.is_smooth);
  if (plot.is_band || plot.has_boxes) plot.has_points = has("p");
  return shows_errors;
}

// Checks, before it is made, whether a part fits into what may still be drawn of the whole.
Result<void> check_room(const PlotScene& scene, std::uint64_t numbers) {
  if (scene.depth == 0 || numbers <= scene.budget.cells) return {};
  return fail(ErrorKind::unsupported, "canvas: too many objects to draw");
}

double drawn_value(const HistogramCells& cells, std::uint64_t cell, bool is_profile) {
  return is_profile && cells.effective_entries(cell) == 0 ? std::nan("") : cells.value(cell);
}

Result<> fill_bins(PlotBins& plot, const ObjectMembers& members, const HistogramBins& h, const PlotScene& scene) {
  plot.x = axis_of(members, "fXaxis", h.bins[0]);
  plot.y = axis_of(members, "fYaxis", plot.dimensions > 1 ? h.bins[1] : 0);
  TRY(const HistogramCells cells, CellReader(members, scene.payload, plot.is_profile).read_all(plot.dimensions));
  const StoredNumbers* squares = members.numbers("fSumw2");
  const bool has_errors = set_steps(plot, scene.option, squares && squares->count() > 0) && plot.dimensions == 1;
  const auto has_option = [&](std::string_view word) { return scene.option.find(word) != scene.option.npos; };
  const bool passes_empty = plot.is_band && (has_option("e5") || has_option("e6"));
  each_inner_cell(h, [&](std::uint64_t cell, auto...) {
    plot.values.push_back(drawn_value(cells, cell, plot.is_profile));
    if (!has_errors) return;
    const bool is_passed_over = passes_empty && plot.values.back() == 0;
    plot.errors.push_back(is_passed_over ? std::nan("") : std::sqrt(std::max(cells.variance(cell), 0.0)));
  });
  return {};
}

// Calls put(x, y, value) for all bins, in the order in which they are stored.
template <class Put>
Result<> each_drawn_value(const ObjectMembers& members, const HistogramBins& h, bool is_profile, const PlotScene& scene,
                          Put put) {
  CellReader reader(members, scene.payload, is_profile);
  const std::uint64_t nx = h.bins[0], ny = h.bins.size() > 1 ? h.bins[1] : 1;
  for (std::uint64_t y = 0; y < ny; ++y) {
    for (std::uint64_t x = 0, many; x < nx; x += many) {
      many = std::min(kCellsTogether, nx - x);
      if (!scene.effort.spend(1 + many / 64)) return scene.effort.check();
      TRY(const HistogramCells cells, reader.read(h.cell(x + 1, h.bins.size() > 1 ? y + 1 : 0), many));
      for (std::uint64_t i = 0; i < many; ++i) put(x + i, y, drawn_value(cells, i, is_profile));
    }
  }
  return {};
}

// The largest value of joined bins counts; in one dimension two neighbours have the least and the largest of both.
Result<> join_bins(PlotBins& plot, const ObjectMembers& members, const HistogramBins& h, const PlotScene& scene) {
  const bool is_map = plot.dimensions > 1;
  const std::uint64_t across = is_map ? kMapAcross : kStepsAcross, nx = h.bins[0], ny = is_map ? h.bins[1] : 1;
  const std::uint64_t step_x = (nx + across - 1) / across, step_y = (ny + across - 1) / across;
  const std::uint64_t wide = (nx + step_x - 1) / step_x, high = (ny + step_y - 1) / step_y;
  plot.x = axis_of(members, "fXaxis", h.bins[0], step_x);
  plot.y = axis_of(members, "fYaxis", is_map ? h.bins[1] : 0, step_y);
  set_steps(plot, "hist", false);
  plot.values.assign(wide * high, std::nan(""));
  std::vector<double> lows = plot.values;
  TRY_VOID(each_drawn_value(members, h, plot.is_profile, scene, [&](std::uint64_t x, std::uint64_t y, double value) {
    if (!std::isfinite(value)) return;
    const std::uint64_t at = x / step_x * high + y / step_y;
    plot.values[at] = std::fmax(plot.values[at], value);
    lows[at] = std::fmin(lows[at], value);
  }));
  for (std::size_t i = 0; i < lows.size(); ++i) {
    plot.least = std::fmin(plot.least.value_or(std::nan("")), lows[i]);
    plot.most = std::fmax(plot.most.value_or(std::nan("")), plot.values[i]);
  }
  for (std::size_t i = 0; !is_map && i + 1 < lows.size(); i += 2) {
    plot.values[i + 1] = std::fmax(plot.values[i], plot.values[i + 1]);
    plot.values[i] = std::fmin(lows[i], lows[i + 1]);
  }
  return {};
}

Result<PlotBins> histogram_plot(const ObjectMembers& members, const ObjectKind& kind, const PlotScene& scene) {
  TRY(const HistogramBins h, histogram_bins(members, "", kind.dimensions));
  PlotBins plot;
  plot.dimensions = kind.dimensions;
  plot.is_profile = kind.family == ObjectFamily::profile;
  if (h.cells > kDrawnWhole && !has_fill_buffer(members, "", kind.dimensions)) {
    TRY_VOID(check_room(scene, kDrawnJoined));
    TRY_VOID(join_bins(plot, members, h, scene));
  } else {
    TRY_VOID(small_bins(members, "", kind.dimensions));
    TRY_VOID(check_room(scene, h.cells));
    TRY_VOID(fill_bins(plot, members, h, scene));
  }
  if (kind.dimensions > 1) plot.value_title = members.text("fZaxis.fTitle");
  plot.look = look_of(members, scene);
  // In two dimensions these limits apply to the colours, which always span all values.
  if (kind.dimensions == 1) set_range(plot.y, members);
  plot.entries = members.number("fEntries").value_or(0);
  const double weight = members.number("fTsumw").value_or(0);
  if (kind.dimensions == 1 && weight > 0) {
    plot.mean = members.number("fTsumwx").value_or(0) / weight;
    plot.deviation = std::sqrt(std::abs(members.number("fTsumwx2").value_or(0) / weight - plot.mean * plot.mean));
  }
  return plot;
}

// TF3 derives from TF2.
bool is_surface(const StreamerInfos& infos, std::string_view class_name) {
  return derives_from(infos, class_name, "TF2") && !derives_from(infos, class_name, "TF3");
}

// Compositions of functions may also be objects of their own.
bool is_function(const StreamerInfos& infos, std::string_view class_name) {
  return (derives_from(infos, class_name, "TF1") && !derives_from(infos, class_name, "TF2")) ||
         class_name == "TF1Convolution" || class_name == "TF1NormSum";
}

// --- graphs ---

// Chooses the drawing of a graph: by its drawing option. Without one, it is a line if it is a curve of RooFit or has
// neither errors nor visible marks (style 1 is a pixel).
void set_marks(PlotPoints& points, const std::string& option, bool is_curve, bool has_errors) {
  points.is_line = is_curve || !has_errors;
  points.has_marks = !is_curve;
  std::string letters = option;
  for (const char* word : {"same", "plc", "pmc", "pfc"}) {
    if (const auto at = letters.find(word); at != letters.npos) letters.erase(at, std::string_view(word).size());
  }
  const auto has = [&](std::string_view any) { return letters.find_first_of(any) != letters.npos; };
  if (!has("lcp*f2345b0")) return;
  points.is_line = has("lc");
  points.has_marks = has("p*b") || (has_errors && !has("x2345lcf"));
  points.is_area = has("f");
  points.is_band = has("2345");
  if (has("x")) points.x_low = points.x_high = points.y_low = points.y_high = {};
}

Plot graph_plot(const ObjectMembers& members, const PlotScene& scene) {
  GraphNumbers g = graph_numbers(members);
  PlotPoints points;
  points.x.title = members.text("fHistogram.fXaxis.fTitle");
  points.y.title = members.text("fHistogram.fYaxis.fTitle");
  points.x.is_time = members.number("fHistogram.fXaxis.fTimeDisplay").value_or(0) != 0;
  if (points.x.is_time) points.x.time_offset = time_offset(members.text("fHistogram.fXaxis.fTimeFormat"));
  set_range(points.y, members);
  points.look = look_of(members, scene);
  const bool has_errors = !g.y_low.empty() || !g.x_low.empty();
  const bool is_curve = derives_from(scene.infos, members.class_name(""), "RooCurve") ||
                        (!has_errors && members.number("fMarkerStyle").value_or(1) <= 1);
  points.zs = members.doubles("fZ");
  if (!points.zs.empty()) {
    // In three dimensions: marks at x and y, coloured by z.
    points.has_marks = true;
    points.value_title = members.text("fHistogram.fZaxis.fTitle");
    points.zs.resize(g.x.size());
  } else {
    points.x_low = std::move(g.x_low);
    points.x_high = std::move(g.x_high);
    points.y_low = std::move(g.y_low);
    points.y_high = std::move(g.y_high);
    set_marks(points, scene.option, is_curve, has_errors);
  }
  points.xs = std::move(g.x);
  points.ys = std::move(g.y);
  Plot plot;
  plot.layers.emplace_back(std::move(points));
  // The other errors of a TGraphMultiErrors, each with error bars of its own.
  for (std::size_t i = 1; i < std::min(g.each_low.size(), g.each_high.size()); ++i) {
    PlotPoints more = std::get<PlotPoints>(plot.layers[0]);
    more.y_low = std::move(g.each_low[i]);
    more.y_high = std::move(g.each_high[i]);
    plot.layers.emplace_back(std::move(more));
  }
  return plot;
}

// Adds the functions stored with the object, such as fits, unless they are marked as hidden.
void add_functions(Plot& plot, const ObjectMembers& members, const PlotScene& scene) {
  constexpr std::size_t kFunctionsMax = 20;
  constexpr std::int64_t kHiddenBit = 1 << 9;  // TF1::kNotDraw
  constexpr std::uint32_t kRed = 0xE02020;     // ROOT's colour for functions, slightly darker
  const std::size_t count = std::min(members.item_count("fFunctions.arr"), kFunctionsMax);
  for (std::size_t i = 0; i < count; ++i) {
    const ObjectMembers function = members.at("fFunctions.arr." + std::to_string(i));
    if (!is_function(scene.infos, function.class_name("")) || (function.integer("fBits", 0) & kHiddenBit) != 0)
      continue;
    auto curve = sampled_function(function, scene.effort);
    if (!curve) continue;
    curve->look = look_of(function, scene);
    if (!curve->look.line) curve->look.line = kRed;
    plot.layers.emplace_back(*std::move(curve));
  }
}

// --- efficiencies ---

Result<> check_efficiency(const StreamerInfos& infos, const ObjectMembers& members) {
  const std::size_t dimensions = efficiency_dimensions(infos, members);
  if (dimensions < 1 || dimensions > 2)
    return fail(ErrorKind::unsupported, "efficiency: more than two dimensions cannot be drawn");
  return {};
}

// One for each filled bin, with its interval.
PlotPoints efficiency_points(const EfficiencyCells& cells, const std::vector<double>& edges, Effort& effort) {
  PlotPoints points;
  each_inner_cell(cells.bins, [&](std::uint64_t cell, std::uint64_t i, auto...) {
    if (!(cells.total[cell] > 0)) return;
    const double low = edges[i], high = edges[i + 1], value = cells.value(cell);
    const Interval interval = cells.interval(cell, effort);
    points.xs.push_back((low + high) / 2);
    points.ys.push_back(value);
    points.x_low.push_back((high - low) / 2);
    points.x_high.push_back((high - low) / 2);
    points.y_low.push_back(value - interval.low);
    points.y_high.push_back(interval.high - value);
  });
  return points;
}

Result<Plot> efficiency_plot(const ObjectMembers& members, const PlotScene& scene) {
  const StreamerInfos& infos = scene.infos;
  Effort& effort = scene.effort;
  TRY_VOID(check_efficiency(infos, members));
  const std::size_t dimensions = efficiency_dimensions(infos, members);
  TRY(const HistogramBins h, small_bins(members, "fTotalHistogram.", dimensions));
  TRY_VOID(check_room(scene, h.cells));
  TRY(const EfficiencyCells cells, efficiency_cells(members, dimensions));
  PlotAxis x = axis_of(members, "fTotalHistogram.fXaxis", cells.bins.bins[0]);
  PlotAxis y = axis_of(members, "fTotalHistogram.fYaxis", dimensions > 1 ? cells.bins.bins[1] : 0);
  Plot plot;
  if (dimensions == 2) {
    PlotBins bins;
    bins.dimensions = 2;
    bins.x = std::move(x);
    bins.y = std::move(y);
    bins.value_title = "efficiency";
    each_inner_cell(cells.bins, [&](std::uint64_t cell, auto...) { bins.values.push_back(cells.value(cell)); });
    plot.layers.emplace_back(std::move(bins));
    return plot;
  }
  PlotPoints points = efficiency_points(cells, x.edges, effort);
  TRY_VOID(effort.check());
  points.x = std::move(x);
  points.y = std::move(y);
  points.look = look_of(members, scene);
  if (points.y.title.empty()) points.y.title = "efficiency";
  plot.layers.emplace_back(std::move(points));
  return plot;
}

// --- bins of any outline ---

// Each bin is a graph, or several graphs in a TMultiGraph.
PlotPolygons polygons_plot(const ObjectMembers& members) {
  PlotPolygons plot;
  plot.x = axis_of(members, "fXaxis", 1);
  plot.y = axis_of(members, "fYaxis", 1);
  plot.value_title = members.text("fZaxis.fTitle");
  plot.entries = members.number("fEntries").value_or(0);
  for (std::size_t i = 0;; ++i) {
    const std::string bin = members.target("fBins.arr." + std::to_string(i));
    if (!is_polygon_bin(members, bin)) return plot;
    const double value = members.number(bin + ".fContent").value_or(0);
    const auto add = [&](const std::string& graph) {
      plot.polygons.push_back({members.doubles(graph + ".fX"), members.doubles(graph + ".fY"), value});
    };
    const std::string outline = members.target(bin + ".fPoly");
    if (members.class_name(outline) != "TMultiGraph") {
      add(outline);
      continue;
    }
    for (std::size_t part = 0;; ++part) {
      const std::string graph = members.target(outline + ".fGraphs.arr." + std::to_string(part));
      if (!members.numbers(graph + ".fX")) break;
      add(graph);
    }
  }
}

// --- titles ---

// "title;of x;of y;of z", in which #; means a semicolon (https://root.cern/doc/master/classTH1.html, SetTitle).
// Histograms have already moved these parts to their axes. Functions, and graphs that were never drawn, still have all
// in one text.
std::array<std::string, 4> split_titles(std::string_view text) {
  std::array<std::string, 4> titles;
  std::size_t part = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ';') {
      if (++part == titles.size()) break;
    } else {
      if (text.substr(i).starts_with("#;")) ++i;
      titles[part] += text[i];
    }
  }
  return titles;
}

void set_titles(Plot& plot, std::string_view text) {
  const std::array<std::string, 4> titles = split_titles(text);
  plot.title = titles[0];
  const auto fill = [&titles](std::string& to, std::size_t part) {
    if (to.empty()) to = titles[part];
  };
  if (plot.layers.empty()) return;
  std::visit(
      [&](auto& layer) {
        fill(layer.x.title, 1);
        fill(layer.y.title, 2);
        if constexpr (requires { layer.value_title; }) fill(layer.value_title, 3);
      },
      plot.layers[0]);
}

bool holds_plots(const StreamerInfos& infos, std::string_view class_name) {
  return is_pad(infos, class_name) || is_stack(infos, class_name) || is_multigraph(infos, class_name) ||
         is_roo_plot(infos, class_name);
}

}  // namespace

void set_range(PlotAxis& axis, const ObjectMembers& members) {
  constexpr double kUnset = -1111;  // as TH1 says it
  const double low = members.number("fMinimum").value_or(kUnset), high = members.number("fMaximum").value_or(kUnset);
  if (low != kUnset) axis.low = low;
  if (high != kUnset) axis.high = high;
}

bool is_drawable_class(const StreamerInfos& infos, std::string_view class_name) {
  const ObjectKind kind = kind_of_object(infos, class_name);
  switch (kind.family) {
    case ObjectFamily::histogram:
    case ObjectFamily::profile:
      return kind.dimensions <= 2;
    case ObjectFamily::efficiency:
    case ObjectFamily::graph:
      return true;
    case ObjectFamily::dense:
    case ObjectFamily::sparse:
      return false;
    case ObjectFamily::other:
      break;
  }
  return is_function(infos, class_name) || is_surface(infos, class_name) || is_polygons(infos, class_name) ||
         holds_plots(infos, class_name);
}

Result<> check_drawable(const StreamerInfos& infos, const ObjectMembers& members) {
  const std::string_view class_name = members.class_name("");
  if (!is_drawable_class(infos, class_name)) return fail(ErrorKind::unsupported, "nothing to draw");
  if (is_function(infos, class_name)) return check_samples(members, 1);
  if (is_surface(infos, class_name)) return check_samples(members, 2);
  if (kind_of_object(infos, class_name).family != ObjectFamily::efficiency) return {};
  return check_efficiency(infos, members);
}

Result<> check_curve(const StreamerInfos& infos, const ObjectMembers& members) {
  if (!is_function(infos, members.class_name(""))) return fail(ErrorKind::unsupported, "no function of one variable");
  return check_samples(members, 1);
}

namespace {

Result<Plot> drawn(const ObjectMembers& members, const PlotScene& scene) {
  const std::string_view class_name = members.class_name("");
  const StreamerInfos& infos = scene.infos;
  const ObjectKind kind = kind_of_object(infos, class_name);
  if (is_pad(infos, class_name)) return canvas_plot(members, scene);
  if (is_stack(infos, class_name)) return stack_plot(members, scene);
  if (is_multigraph(infos, class_name)) return multigraph_plot(members, scene);
  if (is_roo_plot(infos, class_name)) return roo_plot(members, scene);
  if (kind.family == ObjectFamily::efficiency) return efficiency_plot(members, scene);
  if (kind.family == ObjectFamily::graph) {
    const StoredNumbers* points = members.numbers("fX");
    TRY_VOID(check_room(scene, points ? points->count() : 0));
    Plot plot = graph_plot(members, scene);
    add_functions(plot, members, scene);
    return plot;
  }
  Plot plot;
  if (has_contents(kind.family)) {
    TRY(PlotBins bins, histogram_plot(members, kind, scene));
    plot.layers.emplace_back(std::move(bins));
    if (kind.dimensions == 1) add_functions(plot, members, scene);
  } else if (is_polygons(infos, class_name)) {
    plot.layers.emplace_back(polygons_plot(members));
  } else if (is_surface(infos, class_name)) {
    TRY(PlotBins map, sampled_surface(members, scene.effort));
    plot.layers.emplace_back(std::move(map));
  } else {
    TRY(PlotPoints curve, sampled_function(members, scene.effort));
    curve.look = look_of(members, scene);
    plot.layers.emplace_back(std::move(curve));
  }
  return plot;
}

std::size_t numbers_in(const PlotBins& bins) { return bins.values.size(); }
std::size_t numbers_in(const PlotPoints& points) { return points.xs.size(); }
std::size_t numbers_in(const PlotPolygons& bins) {
  std::size_t all = 0;
  for (const auto& polygon : bins.polygons) all += polygon.xs.size();
  return all;
}

std::size_t numbers_of(const Plot& plot) {
  std::size_t all = 0;
  for (const auto& layer : plot.layers) all += std::visit([](const auto& one) { return numbers_in(one); }, layer);
  return all;
}

}  // namespace

Result<Plot> object_plot(const StreamerInfos& infos, const ObjectMembers& members, const PayloadBytes& payload,
                         std::uint64_t numbers, Effort& effort) {
  PlotBudget budget;
  budget.cells = std::min<std::uint64_t>(budget.cells, numbers);
  PlotScene scene{infos, payload, budget, effort};
  // A graph may say how it is to be drawn (TGraph::SetOption).
  if (kind_of_object(infos, members.class_name("")).family == ObjectFamily::graph)
    scene.option = small_letters(members.text("fOption"));
  TRY(Plot plot, drawn(members, scene));
  TRY_VOID(effort.check());  // containers silently leave out parts that were stopped
  // A canvas shows the titles of the objects in it.
  if (!is_pad(infos, members.class_name(""))) set_titles(plot, members.text("fTitle"));
  return plot;
}

std::optional<Plot> part_plot(const ObjectMembers& members, PlotScene scene) {
  constexpr int kDepthMax = 8;  // for stacks in canvases in lists
  if (++scene.depth > kDepthMax || !scene.budget.take(1, 0)) return std::nullopt;
  auto plot = drawn(members, scene);
  if (!plot) return std::nullopt;
  // Containers counted their parts already.
  const bool is_one = !holds_plots(scene.infos, members.class_name(""));
  if (is_one && !scene.budget.take(0, numbers_of(*plot))) return std::nullopt;
  set_titles(*plot, members.text("fTitle"));
  return *std::move(plot);
}

}  // namespace tfile
