// SPDX-License-Identifier: Apache-2.0
// Two dimensions: cells and polygons, their values as colours.
#include <algorithm>
#include <cmath>

#include "plot/plot_layers.h"
#include "plot/plot_scale.h"

namespace tfilefs {
namespace {

using tfile::PlotBins;
using tfile::PlotPolygons;

// More cells than this cannot be distinguished, and a browser would be slow with them.
constexpr std::size_t kCellsAcross = 240, kOutlinePointsMax = 200'000;

bool is_whole_map(const PlotBins& bins) {
  return bins.x.edges.size() >= 2 && bins.y.edges.size() >= 2 &&
         bins.values.size() == (bins.x.edges.size() - 1) * (bins.y.edges.size() - 1);
}

std::string fill_of(const Scale& z, double value) {
  // A cell without a logarithm that is still coloured gets the lowest colour.
  const double at = z.is_log && !(value > 0) ? z.low : value;
  Scale part = z;
  part.begin = 0;
  part.end = 1;
  return "fill=\"" + viridis(part.at(at)) + "\"";
}

// Cells smaller than a few units are joined; the largest value counts.
struct Coarse {
  std::vector<double> x, y;  // edges
  std::vector<double> values;
};
Coarse coarse(const PlotBins& bins) {
  const std::size_t nx = bins.x.edges.size() - 1, ny = bins.y.edges.size() - 1;
  const std::size_t sx = (nx + kCellsAcross - 1) / kCellsAcross, sy = (ny + kCellsAcross - 1) / kCellsAcross;
  Coarse cells;
  for (std::size_t i = 0; i < nx; i += sx) cells.x.push_back(bins.x.edges[i]);
  for (std::size_t i = 0; i < ny; i += sy) cells.y.push_back(bins.y.edges[i]);
  const std::size_t width = cells.x.size(), height = cells.y.size();
  cells.x.push_back(bins.x.edges.back());
  cells.y.push_back(bins.y.edges.back());
  cells.values.assign(width * height, std::nan(""));
  for (std::size_t i = 0; i < nx; ++i) {
    for (std::size_t j = 0; j < ny; ++j) {
      double& cell = cells.values[i / sx * height + j / sy];
      const double value = bins.values[i * ny + j];
      if (std::isfinite(value) && (!(cell == cell) || value > cell)) cell = value;
    }
  }
  return cells;
}

// As in ROOT: an empty cell has no colour if there are no negative values, and the colour of zero if there are.
bool is_empty(double value, const Scale& z, bool is_profile) {
  if (!std::isfinite(value)) return true;
  if (z.is_log) return !(value > 0);
  return value == 0 && z.low >= 0 && !is_profile;
}

}  // namespace

void add_map_ranges(const PlotBins& bins, bool is_first, PlotRanges& ranges) {
  if (!is_whole_map(bins)) return;
  if (is_first) {
    for (const double edge : bins.x.edges) ranges.x.add(edge);
    for (const double edge : bins.y.edges) ranges.y.add(edge);
  }
  ranges.has_colours = true;
  for (const double value : bins.values) ranges.z.add(value);
  if (bins.least) ranges.z.add(*bins.least);
}

void draw_map(const PlotFrame& frame, const PlotBins& bins) {
  if (!is_whole_map(bins)) return;
  SvgDrawing& to = frame.to();
  const Scale &x = frame.x(), &y = frame.y(), &z = frame.z();
  const Coarse cells = coarse(bins);
  to.svg += "<g shape-rendering=\"crispEdges\">\n";
  const std::size_t height = cells.y.size() - 1;
  for (std::size_t i = 0; i + 1 < cells.x.size(); ++i) {
    for (std::size_t j = 0; j < height;) {
      const double value = cells.values[i * height + j];
      std::size_t end = j + 1;  // equal neighbours are one rectangle
      while (end < height && cells.values[i * height + end] == value) ++end;
      if (!is_empty(value, z, bins.is_profile)) {
        const double left = x.at(cells.x[i]), top = y.at(cells.y[end]);
        to.rect(left, top, x.at(cells.x[i + 1]) - left, y.at(cells.y[j]) - top, fill_of(z, value));
      }
      j = end;
    }
  }
  to.svg += "</g>\n";
}

void add_ranges(const PlotPolygons& bins, bool is_first, PlotRanges& ranges) {
  if (bins.x.edges.size() < 2 || bins.y.edges.size() < 2) return;
  if (is_first) {
    for (const double edge : bins.x.edges) ranges.x.add(edge);
    for (const double edge : bins.y.edges) ranges.y.add(edge);
  }
  ranges.has_colours = true;
  for (const auto& polygon : bins.polygons) ranges.z.add(polygon.value);
}

void draw_layer(const PlotFrame& frame, const PlotPolygons& bins) {
  SvgDrawing& to = frame.to();
  const Scale &x = frame.x(), &y = frame.y(), &z = frame.z();
  std::size_t points = 0;
  for (const auto& polygon : bins.polygons) {
    const std::size_t n = std::min(polygon.xs.size(), polygon.ys.size());
    if (n < 3 || (points += n) > kOutlinePointsMax) continue;
    to.svg += "<path class=\"outline\" ";
    to.svg += is_empty(polygon.value, z, false) ? "fill=\"none\"" : fill_of(z, polygon.value);
    to.svg += " d=\"";
    for (std::size_t i = 0; i < n; ++i) to.move_to(x.at(polygon.xs[i]), y.at(polygon.ys[i]), i == 0);
    to.svg += "Z\"/>\n";
  }
}

}  // namespace tfilefs
