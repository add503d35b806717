// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "query/drawn_histogram.h"

namespace tfilefs {

// Calls visit(bin, places) for each bin within the axes, or of all; x is the slowest, as the files of a mount have it.
template <class Visit>
void for_each_bin(const DrawnHistogram& histogram, bool has_flow, Visit visit) {
  const std::size_t axes = histogram.dimensions(), first = has_flow ? 0 : 1;
  std::array<std::size_t, 3> end{1, 1, 1}, begin{0, 0, 0}, places{};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    begin[axis] = first;
    end[axis] = static_cast<std::size_t>(histogram.axes()[axis].bins) + (has_flow ? 2 : 1);
  }
  for (places[0] = begin[0]; places[0] < end[0]; ++places[0]) {
    for (places[1] = begin[1]; places[1] < end[1]; ++places[1]) {
      for (places[2] = begin[2]; places[2] < end[2]; ++places[2])
        visit(histogram.bin_at(std::span(places).first(axes)), places);
    }
  }
}

// The value that a bin shows.
inline double bin_value(const DrawnHistogram& histogram, std::size_t bin) {
  return histogram.is_profile() ? histogram.profile_value(bin) : histogram.contents()[bin];
}
inline double bin_error(const DrawnHistogram& histogram, std::size_t bin) {
  return histogram.is_profile() ? histogram.profile_error(bin) : std::sqrt(histogram.squares()[bin]);
}

// One more than there are bins.
inline std::vector<double> bin_edges(const HistogramAxis& axis) {
  std::vector<double> edges;
  for (std::int32_t i = 0; i <= axis.bins; ++i) edges.push_back(axis.edge(static_cast<std::size_t>(i)));
  edges.back() = axis.high;
  return edges;
}

}  // namespace tfilefs
