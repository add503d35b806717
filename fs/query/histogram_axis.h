// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfloat>
#include <cstddef>
#include <cstdint>

namespace tfilefs {

// Bins of equal width. Bin 0 is what lies below, bin `bins` + 1 what lies above, and what is no number.
struct HistogramAxis {
  std::int32_t bins = 1;
  double low = 0, high = 1;
  bool is_given = false;  // never extended

  bool has(double x) const { return x >= low && x < high; }
  // ROOT's rule, to the last bit (TAxis::FindFixBin): the edges, as they are rounded, decide.
  std::size_t bin_of(double x) const {
    if (x < low) return 0;
    if (!(x < high)) return static_cast<std::size_t>(bins) + 1;
    const auto [first, second] = scale();
    const double below = first * (x - low) / (high - low) * second;
    const std::size_t bin = 1 + static_cast<std::size_t>(below < bins ? below : bins);
    return x >= edge(bin) ? bin + 1 : x < edge(bin - 1) ? bin - 1 : bin;
  }
  // The number of bins as a product whose first factor times a distance is finite. ROOT has no second one, and no bin
  // for a value so far away.
  struct Scale {
    double first = 1, second = 1;
  };
  Scale scale() const { return bins <= DBL_MAX / (high - low) ? Scale{double(bins), 1} : Scale{1, double(bins)}; }
  double width() const { return (high - low) / bins; }
  double centre(std::size_t bin) const { return low + (static_cast<double>(bin) - 0.5) * width(); }
  double edge(std::size_t below) const { return low + static_cast<double>(below) * width(); }
  friend bool operator==(const HistogramAxis&, const HistogramAxis&) = default;
};

// So many values have the limits from which an axis is found (TTree::GetEstimate).
inline constexpr std::size_t kAxisValues = 1'000'000;

// The axis that TTree::Draw finds for values from `least` to `most`, with about so many bins: round limits with some
// room beside the values. `is_integer`: bins of whole numbers. (ROOT's THLimitsFinder.) Where the doubles lie further
// apart than such bins are wide, fewer and wider ones.
HistogramAxis good_axis(std::int32_t bins, double least, double most, bool is_integer);

// Doubles the axis until it has the value, as a histogram of TTree::Draw does once its axis was found. False: it cannot
// be.
bool extend_axis(HistogramAxis&, double x);

}  // namespace tfilefs
