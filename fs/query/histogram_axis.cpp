// SPDX-License-Identifier: Apache-2.0
#include "query/histogram_axis.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <optional>

namespace tfilefs {
namespace {

struct GoodLimits {
  double low = 0, high = 0, width = 0;
  std::int32_t bins = 0;
};

// Wider than any that is drawn: then there are no round limits.
constexpr double kWidthMax = 1e39;
constexpr int kExponentMax = 200;
constexpr double kRatioMax = 1e9;

// A width of 1, 2 or 5 times a power of ten that is at least this one; nothing where the power is beyond measure.
std::optional<double> round_width(double width) {
  int exponent = static_cast<int>(std::log10(width));
  if (exponent < -kExponentMax || exponent > kExponentMax) return std::nullopt;
  if (width <= 1) --exponent;
  const double digits = width * std::pow(10., -exponent) - 1e-10;
  if (digits <= 1) return 1 * std::pow(10., exponent);
  if (digits <= 2) return 2 * std::pow(10., exponent);
  if (digits <= 5) return 5 * std::pow(10., exponent);
  return std::pow(10., exponent + 1);
}

// A number of widths as an integer, rounded down.
int whole_widths(double count) { return static_cast<int>(count) - (count < 0 ? 1 : 0); }

// Takes away bins at the ends in which no value lies.
void trim(GoodLimits& limits, double low, double high) {
  const GoodLimits untrimmed = limits;
  const double test = limits.width * 0.0001;
  if (low - limits.low >= test) {
    limits.low += limits.width;
    --limits.bins;
  }
  if (limits.high - high >= test) {
    limits.high -= limits.width;
    --limits.bins;
  }
  if (limits.low >= limits.high) limits = untrimmed;
}

GoodLimits round_limits(double low, double high, std::int32_t wanted) {
  GoodLimits limits;
  limits.bins = wanted;
  if (low == high) high = low + 1;
  for (std::int32_t parts = std::max(wanted, 2);; ++parts) {
    const double exact = (high - low) / parts;
    if (exact >= FLT_MAX || exact <= 0) break;
    const auto width = round_width(exact);
    if (!width) return {0, 1, 0.01, 100};
    limits.width = *width;
    double count = low / limits.width;
    if (std::abs(count) > kRatioMax) {
      limits.low = low;
      limits.high = high;
      return limits;
    }
    const int first = whole_widths(count);
    count = high / limits.width + 1.00001;
    const int last = whole_widths(count);
    limits.low = limits.width * first;
    limits.high = limits.width * last;
    limits.bins = last - first;
    if (wanted == 1 && limits.bins != 1) {
      limits.width *= 2;
      limits.bins = 1;
    }
    if (wanted <= 5 || 2 * limits.bins != wanted) break;
  }
  trim(limits, low, high);
  return limits;
}

HistogramAxis whole_axis(std::int32_t bins, double low, double high, double outer_low, double outer_high) {
  const auto whole_low = static_cast<double>(static_cast<std::int64_t>(low));
  const auto whole_high = static_cast<double>(static_cast<std::int64_t>(high));
  low = low < 0 && low != whole_low ? whole_low - 1 : whole_low;
  high = high > 0 && high != whole_high ? whole_high + 1 : high == 0 ? 1 : whole_high;
  if (low >= high) high = low + 1;
  const double width = std::max(1.0, std::trunc((high - low) / bins));
  bins = static_cast<std::int32_t>((high - low) / width);
  if (low + bins * width < outer_high) {
    ++bins;
    high = low + bins * width;
  }
  if (low > outer_low) {
    ++bins;
    low = high - bins * width;
  }
  return {bins, low, high};
}

bool has_ascending_edges(const HistogramAxis& axis) {
  std::size_t i = 1;
  while (i <= static_cast<std::size_t>(axis.bins) && axis.edge(i) > axis.edge(i - 1)) ++i;
  return i > static_cast<std::size_t>(axis.bins);
}

// Far from zero the doubles may lie further apart than bins are wide. ROOT's axis then has edges that are the same
// number, and values beyond its end. Here such bins become as wide as it takes.
HistogramAxis with_distinct_edges(const HistogramAxis& axis, double least, double most) {
  const double farthest = std::max({std::abs(axis.low), std::abs(axis.high), std::abs(least), std::abs(most)});
  if (least > most || !(farthest < kWidthMax)) return axis;
  const double far = farthest + 2 * (axis.high - axis.low);
  const double step = std::nextafter(far, HUGE_VAL) - far;  // a power of two
  if (axis.width() >= 4 * step) return axis;
  if (has_ascending_edges(axis) && axis.has(least) && axis.has(most)) return axis;
  const double low = std::floor(std::min(axis.low, least) / step) * step;
  const double steps = std::floor(std::max(axis.high, most) / step) + 1 - low / step;
  const double together = std::ceil(steps / axis.bins), bins = std::ceil(steps / together);
  return {static_cast<std::int32_t>(bins), low, low + bins * together * step};
}

constexpr double kWholeMax = 0x1p62;  // as far as 64-bit integers reach, and their bins

HistogramAxis root_axis(std::int32_t bins, double least, double most, bool is_integer) {
  if (least >= most) {
    least -= 1;
    most += 1;
  }
  const double room = is_integer ? 5 * (most - least) / bins : 0.1 * (most - least);
  double low = least - room, high = most + room;
  if (low < 0 && least >= 0) low = 0;
  if (high > 0 && most <= 0) high = 0;
  const GoodLimits limits = round_limits(std::min(low, high), std::max(low, high), bins);
  if (limits.width <= 0 || limits.width > kWidthMax) {
    least = -1;
    most = 1;
  } else {
    const double margin = 0.01 * (most - least);
    least = std::min(limits.low, least - margin);
    most = std::max(limits.high, most + margin);
  }
  const bool fits = std::abs(least) < kWholeMax && std::abs(most) < kWholeMax;
  if (is_integer && fits) return whole_axis(bins, least, most, low, high);
  return {bins, least, most};
}

}  // namespace

HistogramAxis good_axis(std::int32_t bins, double least, double most, bool is_integer) {
  return with_distinct_edges(root_axis(bins, least, most, is_integer), least, most);
}

bool extend_axis(HistogramAxis& axis, double x) {
  constexpr int kTimesMax = 64;
  if (axis.is_given || axis.low >= axis.high || std::isnan(x)) return false;
  double low = axis.low, high = axis.high, range = high - low;
  int times = 0;
  while (x < low) {
    if (times++ > kTimesMax) return false;
    low -= range;
    range *= 2;
  }
  while (x >= high) {
    if (times++ > kTimesMax) return false;
    high += range;
    range *= 2;
  }
  axis.low = low;
  axis.high = high;
  return true;
}

}  // namespace tfilefs
