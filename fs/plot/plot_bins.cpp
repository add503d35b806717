// SPDX-License-Identifier: Apache-2.0
// Histograms and profiles of one dimension.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "plot/plot_layers.h"

namespace tfilefs {
namespace {

using tfile::PlotBins;

// More steps, error bars or marks than this cannot be distinguished, and a browser would be slow with them.
constexpr std::size_t kStepsMax = 4'000, kErrorBarsMax = 1'000, kPointsMax = 20'000, kMarksMax = 400;

bool is_whole(const PlotBins& bins) {
  return bins.x.edges.size() >= 2 && bins.values.size() + 1 == bins.x.edges.size();
}

bool is_shown(const tfile::PlotAxis& axis, std::size_t i) {
  return axis.edges[i + 1] > axis.low.value_or(axis.edges.front()) &&
         axis.edges[i] < axis.high.value_or(axis.edges.back());
}

void draw_steps(const PlotFrame& frame, const PlotBins& bins, bool filled) {
  SvgDrawing& to = frame.to();
  const Scale &x = frame.x(), &y = frame.y();
  // Bins narrower than a line are drawn as the range of their values.
  const std::size_t together = (bins.values.size() + kStepsMax - 1) / kStepsMax;
  std::string path;
  to.svg.swap(path);
  for (std::size_t i = 0; i < bins.values.size(); i += together) {
    const std::size_t end = std::min(i + together, bins.values.size());
    Range values;
    for (std::size_t j = i; j < end; ++j) values.add(bins.values[j]);
    if (values.is_empty()) values.low = values.high = 0;
    to.move_to(x.at(bins.x.edges[i]), y.at(values.high), i == 0);
    if (together > 1) to.move_to(x.at(bins.x.edges[i]), y.at(values.low), false);
    to.move_to(x.at(bins.x.edges[end]), y.at(values.high), false);
  }
  to.svg.swap(path);
  const double zero = y.is_log ? y.begin : std::clamp(y.at(0), y.end, y.begin);
  if (filled) {
    to.svg += "<path class=\"fill\"" + fill_style(bins.look) + " d=\"" + path;
    to.move_to(x.at(bins.x.edges.back()), zero, false);
    to.move_to(x.at(bins.x.edges.front()), zero, false);
    to.svg += "Z\"/>\n";
  }
  to.svg += "<path class=\"line\"" + line_style(bins.look) + " d=\"" + path + "\"/>\n";
}

using Points = std::vector<std::pair<double, double>>;

// Through the points, in places of the page: straight, or as a Catmull-Rom spline, which passes through all of them.
void draw_edge(SvgDrawing& to, const Points& points, bool is_smooth, bool begins) {
  constexpr int kSteps = 8;
  const auto point = [&](std::size_t i) { return points[std::min(i, points.size() - 1)]; };
  for (std::size_t i = 0; i < points.size(); ++i) {
    to.move_to(points[i].first, points[i].second, begins && i == 0);
    if (!is_smooth || i + 1 == points.size()) continue;
    const auto before = point(i == 0 ? 0 : i - 1), from = point(i), until = point(i + 1), after = point(i + 2);
    const auto between = [](double a, double b, double c, double d, double t) {
      return b + t / 2 * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
    };
    for (int step = 1; step < kSteps; ++step) {
      const double t = static_cast<double>(step) / kSteps;
      to.move_to(between(before.first, from.first, until.first, after.first, t),
                 between(before.second, from.second, until.second, after.second, t), false);
    }
  }
}

// Along the upper ends of the errors, and back along the lower ones, from the middle of each bin to the next.
void draw_error_band(const PlotFrame& frame, const PlotBins& bins) {
  const std::size_t n = bins.values.size(), together = (n + kStepsMax - 1) / kStepsMax;
  Points upper, lower;
  for (std::size_t i = 0; i < n; i += together) {
    const double value = bins.values[i], error = bins.errors[i];
    if (!std::isfinite(value + error) || !std::isfinite(value - error)) continue;
    const double x = frame.x().at((bins.x.edges[i] + bins.x.edges[i + 1]) / 2);
    upper.emplace_back(x, frame.y().at(value + error));
    lower.emplace_back(x, frame.y().at(value - error));
  }
  if (upper.empty()) return;
  std::ranges::reverse(lower);
  SvgDrawing& to = frame.to();
  to.svg += "<path class=\"fill\"" + fill_style(bins.look) + " d=\"";
  draw_edge(to, upper, bins.is_smooth, true);
  draw_edge(to, lower, bins.is_smooth, false);
  to.svg += "Z\"/>\n";
}

// As wide as its bin, from the lower to the upper end of its error.
void draw_error_boxes(const PlotFrame& frame, const PlotBins& bins) {
  SvgDrawing& to = frame.to();
  const std::size_t n = bins.values.size(), together = (n + kStepsMax - 1) / kStepsMax;
  to.svg += "<path class=\"fill\"" + fill_style(bins.look) + " d=\"";
  for (std::size_t i = 0; i < n; i += together) {
    const double value = bins.values[i], error = bins.errors[i];
    if (!std::isfinite(value + error) || error == 0) continue;
    const double left = frame.x().at(bins.x.edges[i]), right = frame.x().at(bins.x.edges[i + 1]);
    const double top = frame.y().at(value + error), bottom = frame.y().at(value - error);
    draw_edge(to, {{left, top}, {right, top}, {right, bottom}, {left, bottom}}, false, true);
    to.svg += 'Z';
  }
  to.svg += "\"/>\n";
}

void draw_points(const PlotFrame& frame, const PlotBins& bins) {
  SvgDrawing& to = frame.to();
  const Scale &x = frame.x(), &y = frame.y();
  const bool wide = bins.values.size() <= kMarksMax, has_bars = bins.values.size() <= kErrorBarsMax;
  tfile::PlotLook solid;
  solid.line = bins.look.line;
  const std::string line = line_style(solid), mark = mark_style(bins.look);
  for (std::size_t i = 0; i < std::min(bins.values.size(), kPointsMax); ++i) {
    const double value = bins.values[i], error = bins.errors.empty() ? 0 : bins.errors[i];
    if (!std::isfinite(value) || (value == 0 && error == 0 && !bins.is_profile)) continue;
    const double low = bins.x.edges[i], high = bins.x.edges[i + 1], middle = (low + high) / 2;
    if (has_bars) {
      to.line(x.at(middle), y.at(value - error), x.at(middle), y.at(value + error), "error", line);
      if (!bins.has_steps) to.line(x.at(low), y.at(value), x.at(high), y.at(value), "error", line);
    }
    to.svg += "<circle class=\"point\"" + mark;
    append_attribute(to.svg, "cx", x.at(middle));
    append_attribute(to.svg, "cy", y.at(value));
    append_attribute(to.svg, "r", wide ? 3.5 : 1.5);
    to.svg += "/>\n";
  }
}

}  // namespace

void add_ranges(const PlotBins& bins, bool is_first, PlotRanges& ranges) {
  if (bins.dimensions == 2) return add_map_ranges(bins, is_first, ranges);
  if (!is_whole(bins)) return;
  if (is_first) {
    // A logarithmic axis begins at the first edge that has a place on it.
    for (const double edge : bins.x.edges) ranges.x.add(edge);
    ranges.has_zero = !bins.is_profile;
  }
  ranges.has_y_room = true;
  for (std::size_t i = 0; i < bins.values.size(); ++i) {
    if (!is_shown(bins.x, i)) continue;
    const double error = bins.errors.empty() ? 0 : bins.errors[i];
    ranges.y.add(bins.values[i]);
    ranges.y.add(bins.values[i] + error);
    // An error bar that reaches down to zero would spoil a logarithmic axis.
    if (!ranges.y.is_log) ranges.y.add(bins.values[i] - error);
  }
}

void draw_layer(const PlotFrame& frame, const PlotBins& bins) {
  if (bins.dimensions == 2) return draw_map(frame, bins);
  if (!is_whole(bins)) return;
  const bool as_points = bins.has_points && bins.values.size() <= kPointsMax;
  const bool filled = bins.look.fill || (!as_points && !bins.look.line);
  const bool as_band = bins.is_band && !bins.errors.empty(), as_boxes = bins.has_boxes && !bins.errors.empty();
  if (as_band) draw_error_band(frame, bins);
  if (as_boxes) draw_error_boxes(frame, bins);
  if (bins.has_steps || !(as_points || as_band || as_boxes)) draw_steps(frame, bins, filled);
  if (as_points) draw_points(frame, bins);
}

}  // namespace tfilefs
