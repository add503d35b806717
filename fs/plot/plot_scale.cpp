// SPDX-License-Identifier: Apache-2.0
#include "plot/plot_scale.h"

#include <algorithm>
#include <cmath>

namespace tfilefs {

void Range::add(double value) {
  if (!std::isfinite(value) || (is_log && !(value > 0))) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

double Scale::at(double value) const {
  constexpr double kFar = 10'000;  // outside of any page, and still a number that browsers take
  const double part = is_log ? (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low))
                             : (value - low) / (high - low);
  if (is_log && !(value > 0)) return begin + (begin - end);  // below the axis
  const double place = begin + part * (end - begin);
  return std::clamp(std::isfinite(place) ? place : begin, -kFar, kFar);
}

Scale scale_of(double low, double high, double begin, double end, bool is_log) {
  // The extent of the whole range of a double is not a finite double.
  constexpr double kMax = std::numeric_limits<double>::max() / 4, kMin = std::numeric_limits<double>::min();
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) low = is_log ? 0.1 : 0, high = 1;
  if (is_log) {
    high = std::clamp(high, kMin * 10, kMax);
    constexpr double kDecades = 1e-3;  // three below the largest value if the axis would begin at 0 or below
    low = low > 0 ? std::clamp(low, kMin, high) : std::max(high * kDecades, kMin);
    if (low == high) low /= 2, high *= 2;
  } else if (low == high) {
    const double room = low == 0 ? 1 : std::abs(low) / 2;
    low -= room;
    high += room;
  }
  return {std::clamp(low, -kMax, kMax), std::clamp(high, -kMax, kMax), begin, end, is_log};
}

}  // namespace tfilefs
