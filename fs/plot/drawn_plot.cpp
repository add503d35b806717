// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include "query/drawn_bins.h"
#include "query/pictures.h"

namespace tfilefs {

Result<tfile::Plot> drawn_plot(const Drawing& drawing, bool is_log) {
  const DrawnHistogram& histogram = drawing.histogram;
  if (histogram.dimensions() > 2)
    return tfile::fail(ErrorKind::unsupported, "three axes make no picture: write them as .csv, .json or .root");
  tfile::PlotBins bins;
  bins.dimensions = histogram.dimensions();
  bins.is_profile = histogram.is_profile();
  bins.x.edges = bin_edges(histogram.axes()[0]);
  bins.x.title = drawing.titles[0];
  if (bins.dimensions == 2) bins.y.edges = bin_edges(histogram.axes()[1]);
  if (drawing.titles.size() > 1) bins.y.title = drawing.titles[1];
  if (drawing.titles.size() > 2) bins.value_title = drawing.titles[2];
  const bool has_errors = bins.dimensions == 1 && (bins.is_profile || histogram.is_weighted());
  bins.has_points = has_errors;
  bins.has_steps = !bins.is_profile;
  for_each_bin(histogram, false, [&](std::size_t bin, const auto&) {
    const bool is_empty = bins.dimensions == 2 && histogram.squares()[bin] == 0;
    bins.values.push_back(is_empty ? std::nan("") : bin_value(histogram, bin));
    if (has_errors) bins.errors.push_back(bin_error(histogram, bin));
  });
  bins.entries = histogram.entries();
  bins.mean = histogram.mean(0);
  bins.deviation = histogram.deviation(0);
  tfile::Plot plot;
  plot.title = drawing.title;
  plot.layers.emplace_back(std::move(bins));
  plot.set_log(false, is_log && histogram.dimensions() == 1, is_log && histogram.dimensions() == 2);
  return plot;
}

}  // namespace tfilefs
