// SPDX-License-Identifier: Apache-2.0
// Graphs and curves.
#include <algorithm>
#include <cmath>

#include "plot/plot_layers.h"
#include "plot/plot_scale.h"

namespace tfilefs {
namespace {

using tfile::PlotPoints;

// More points than this cannot be distinguished, and a browser would be slow with them.
constexpr std::size_t kGraphPointsMax = 20'000, kGraphMarksMax = 400;

double at_or_zero(const std::vector<double>& errors, std::size_t i) { return i < errors.size() ? errors[i] : 0; }

std::size_t count_of(const PlotPoints& points) { return std::min(points.xs.size(), points.ys.size()); }

// The step that thins a long run of points to kGraphPointsMax.
std::size_t step_of(std::size_t n) { return std::max<std::size_t>((n + kGraphPointsMax - 1) / kGraphPointsMax, 1); }

void draw_curve(const PlotFrame& frame, const PlotPoints& points, bool is_area) {
  SvgDrawing& to = frame.to();
  to.svg +=
      is_area ? "<path class=\"fill\"" + fill_style(points.look) : "<path class=\"line\"" + line_style(points.look);
  to.svg += " d=\"";
  const std::size_t n = count_of(points);
  bool begins = true;
  for (std::size_t i = 0; i < n; i += step_of(n)) {
    const bool is_there = std::isfinite(points.xs[i]) && std::isfinite(points.ys[i]);
    if (is_there) to.move_to(frame.x().at(points.xs[i]), frame.y().at(points.ys[i]), begins);
    begins = !is_there;
  }
  to.svg += "\"/>\n";
}

// Along the upper ends of the errors, and back along the lower ones.
void draw_band(const PlotFrame& frame, const PlotPoints& points) {
  SvgDrawing& to = frame.to();
  const std::size_t n = count_of(points), step = step_of(n);
  to.svg += "<path class=\"fill\"" + fill_style(points.look) + " d=\"";
  bool begins = true;
  const auto put = [&](std::size_t i, double y) {
    if (!std::isfinite(points.xs[i]) || !std::isfinite(y)) return;
    to.move_to(frame.x().at(points.xs[i]), frame.y().at(y), begins);
    begins = false;
  };
  for (std::size_t i = 0; i < n; i += step) put(i, points.ys[i] + at_or_zero(points.y_high, i));
  for (std::size_t i = n; i-- > 0;) {
    if (i % step == 0) put(i, points.ys[i] - at_or_zero(points.y_low, i));
  }
  to.svg += "\"/>\n";
}

void draw_bars(const PlotFrame& frame, const PlotPoints& points, std::size_t i, const std::string& style) {
  const Scale &x = frame.x(), &y = frame.y();
  const double at_x = points.xs[i], at_y = points.ys[i];
  if (!points.x_low.empty() || !points.x_high.empty())
    frame.to().line(x.at(at_x - at_or_zero(points.x_low, i)), y.at(at_y), x.at(at_x + at_or_zero(points.x_high, i)),
                    y.at(at_y), "error", style);
  if (!points.y_low.empty() || !points.y_high.empty())
    frame.to().line(x.at(at_x), y.at(at_y - at_or_zero(points.y_low, i)), x.at(at_x),
                    y.at(at_y + at_or_zero(points.y_high, i)), "error", style);
}

void draw_marks(const PlotFrame& frame, const PlotPoints& points) {
  SvgDrawing& to = frame.to();
  const std::size_t n = count_of(points);
  tfile::PlotLook solid;
  solid.line = points.look.line;
  const std::string line = line_style(solid), mark = mark_style(points.look);
  const bool has_colours = points.zs.size() == n;
  for (std::size_t i = 0; i < n; i += step_of(n)) {
    if (!std::isfinite(points.xs[i]) || !std::isfinite(points.ys[i])) continue;
    draw_bars(frame, points, i, line);
    to.svg += "<circle class=\"point\"";
    if (has_colours) {
      Scale part = frame.z();
      part.begin = 0;
      part.end = 1;
      to.svg += " style=\"fill:" + viridis(std::isfinite(points.zs[i]) ? part.at(points.zs[i]) : 0) + "\"";
    } else {
      to.svg += mark;
    }
    append_attribute(to.svg, "cx", frame.x().at(points.xs[i]));
    append_attribute(to.svg, "cy", frame.y().at(points.ys[i]));
    append_attribute(to.svg, "r", n <= kGraphMarksMax ? (has_colours ? 6 : 4) : 1.8);
    to.svg += "/>\n";
  }
}

}  // namespace

void add_ranges(const PlotPoints& points, bool is_first, PlotRanges& ranges) {
  const std::size_t n = count_of(points);
  const bool has_bins = points.x.edges.size() > 1, is_curve = points.is_line && !points.has_marks;
  if (is_first) {
    ranges.has_x_room = !has_bins && (!is_curve || ranges.is_shared);
    ranges.has_y_room = true;
    for (const double edge : points.x.edges) ranges.x.add(edge);
  } else if (is_curve && !ranges.y.is_empty() && !ranges.is_shared) {
    return;  // a function drawn over what it was fitted to does not move the axes
  }
  const bool adds_x = (is_first && !has_bins) || ranges.is_shared;
  for (std::size_t i = 0; i < n; ++i) {
    if (adds_x) {
      ranges.x.add(points.xs[i]);
      ranges.x.add(points.xs[i] - at_or_zero(points.x_low, i));
      ranges.x.add(points.xs[i] + at_or_zero(points.x_high, i));
    }
    ranges.y.add(points.ys[i]);
    if (!ranges.y.is_log) ranges.y.add(points.ys[i] - at_or_zero(points.y_low, i));
    ranges.y.add(points.ys[i] + at_or_zero(points.y_high, i));
  }
  if (points.zs.size() == n && n > 0) {
    ranges.has_colours = true;
    for (const double z : points.zs) ranges.z.add(z);
  }
}

void draw_layer(const PlotFrame& frame, const PlotPoints& points) {
  if (points.is_band) draw_band(frame, points);
  if (points.is_area) draw_curve(frame, points, true);
  if (points.is_line) draw_curve(frame, points, false);
  if (points.has_marks) draw_marks(frame, points);
}

}  // namespace tfilefs
