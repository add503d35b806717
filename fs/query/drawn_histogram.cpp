// SPDX-License-Identifier: Apache-2.0
#include "query/drawn_histogram.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "query/block_sums.h"
#include "query/vector_loops.h"

namespace tfilefs {

using tfile::OfferedHistogram;

namespace {

// Values that are filled together: they fit into the caches of a core.
constexpr std::size_t kBlockValues = 4096;

template <std::size_t numbers>
void add_moments(OfferedHistogram::Moments& moments, double weight, const std::array<double, numbers>& at) {
  moments.weights += weight;
  moments.squares += weight * weight;
  for (std::size_t i = 0; i < numbers; ++i) {
    moments.first[i] += weight * at[i];
    moments.second[i] += weight * at[i] * at[i];
  }
  if constexpr (numbers > 1) moments.xy += weight * at[0] * at[1];
  if constexpr (numbers > 2) {
    moments.xz += weight * at[0] * at[2];
    moments.yz += weight * at[1] * at[2];
  }
}

void add_moments(OfferedHistogram::Moments& moments, const OfferedHistogram::Moments& more) {
  moments.weights += more.weights;
  moments.squares += more.squares;
  for (std::size_t axis = 0; axis < moments.first.size(); ++axis) {
    moments.first[axis] += more.first[axis];
    moments.second[axis] += more.second[axis];
  }
  moments.xy += more.xy;
  moments.xz += more.xz;
  moments.yz += more.yz;
}

}  // namespace

void DrawnValues::append(const DrawnValues& other, std::size_t begin, std::size_t end) {
  const auto part = [&](const std::vector<double>& from, std::vector<double>& to) {
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
              from.begin() + static_cast<std::ptrdiff_t>(end));
  };
  for (std::size_t i = 0; i < numbers.size(); ++i) part(other.numbers[i], numbers[i]);
  part(other.weights, weights);
}

void DrawnValues::add(const DrawnValues& other, std::size_t i) { append(other, i, i + 1); }

DrawnHistogram::DrawnHistogram(std::vector<HistogramAxis> axes, bool is_profile)
    : axes_(std::move(axes)), is_profile_(is_profile) {
  std::size_t bins = 1;
  for (const HistogramAxis& axis : axes_) bins *= static_cast<std::size_t>(axis.bins) + 2;
  for (std::vector<double>* each : sums()) each->resize(bins);
}

std::vector<std::vector<double>*> DrawnHistogram::sums() {
  if (is_profile_) return {&contents_, &squares_, &value_sums_, &value_squares_};
  return {&contents_, &squares_};
}

std::size_t DrawnHistogram::bin_at(std::span<const std::size_t> bins) const {
  std::size_t bin = 0;
  for (std::size_t axis = axes_.size(); axis-- > 0;)
    bin = bin * (static_cast<std::size_t>(axes_[axis].bins) + 2) + bins[axis];
  return bin;
}

// `numbers`: of each value, which are one more than the axes of a profile.
template <std::size_t dimensions, std::size_t numbers>
void DrawnHistogram::fill_axes(const DrawnValues& values, std::size_t begin, std::size_t end, DrawnValues* beyond) {
  // Copies, which a compiler keeps in registers: for all it knows, a bin that is written is a part of this.
  std::array<HistogramAxis, dimensions> axes;
  std::ranges::copy(axes_, axes.begin());
  double entries = entries_;
  OfferedHistogram::Moments moments = moments_;
  bool is_weighted = is_weighted_;
  for (std::size_t i = begin; i < end; ++i) {
    std::size_t bin = 0;
    bool is_inside = true;
    for (std::size_t axis = dimensions; axis-- > 0;) {
      const double x = values.numbers[axis][i];
      is_inside = is_inside && axes[axis].has(x);
      bin = bin * (static_cast<std::size_t>(axes[axis].bins) + 2) + axes[axis].bin_of(x);
    }
    if (!is_inside && beyond) {
      beyond->add(values, i);
      continue;
    }
    const double weight = values.weights[i];
    entries += 1;
    fill_bin(bin, weight, numbers > dimensions ? values.numbers[numbers - 1][i] : 0);
    is_weighted = is_weighted || weight != 1;
    if (!is_inside) continue;
    std::array<double, numbers> at;
    for (std::size_t n = 0; n < numbers; ++n) at[n] = values.numbers[n][i];
    add_moments(moments, weight, at);
  }
  entries_ = entries;
  moments_ = moments;
  is_weighted_ = is_weighted;
}

// Fills values of which none has a weight of its own, or does nothing, and is false: one has, or goes to those beyond.
bool DrawnHistogram::fill_alike(std::span<const double> numbers, std::span<const double> weights, bool keeps_beyond) {
  const HistogramAxis& axis = axes_[0];
  if (!are_ones(weights)) return false;
  const WithinSums within = sums_within(axis.low, axis.high, numbers);
  const auto count = static_cast<double>(numbers.size());
  if (keeps_beyond && within.count != count) return false;
  std::array<std::int32_t, kBlockValues> bins;
  find_bins(axis, numbers, bins.data());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto bin = static_cast<std::size_t>(bins[i]);
    contents_[bin] += 1;
    squares_[bin] += 1;
  }
  entries_ += count;
  moments_.weights += within.count;
  moments_.squares += within.count;
  moments_.first[0] += within.first;
  moments_.second[0] += within.second;
  return true;
}

void DrawnHistogram::fill_line(const DrawnValues& values, DrawnValues* beyond) {
  for (std::size_t at = 0; at < values.size(); at += kBlockValues) {
    const std::size_t count = std::min(kBlockValues, values.size() - at);
    const auto numbers = std::span(values.numbers[0]).subspan(at, count);
    if (!fill_alike(numbers, std::span(values.weights).subspan(at, count), beyond != nullptr))
      fill_axes<1, 1>(values, at, at + count, beyond);
  }
}

void DrawnHistogram::fill(const DrawnValues& values, DrawnValues* beyond) {
  const std::size_t end = values.size();
  if (axes_.size() == 1 && !is_profile_) return fill_line(values, beyond);
  if (axes_.size() == 1) return fill_axes<1, 2>(values, 0, end, beyond);
  if (axes_.size() == 2)
    return is_profile_ ? fill_axes<2, 3>(values, 0, end, beyond) : fill_axes<2, 2>(values, 0, end, beyond);
  fill_axes<3, 3>(values, 0, end, beyond);
}

std::vector<DrawnHistogram::Extension> DrawnHistogram::fill_extending(const DrawnValues& values, std::size_t i) {
  std::vector<Extension> done;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    const double x = values.numbers[axis][i];
    Extension made{axis, axes_[axis]};
    if (axes_[axis].has(x) || !extend_axis(made.to, x)) continue;
    extend(made);
    done.push_back(made);
  }
  DrawnValues one(values.numbers.size());
  one.add(values, i);
  fill(one);
  return done;
}

// Each bin goes to the one in which its centre is; what is beyond an axis is lost, as in ROOT.
void DrawnHistogram::extend(const Extension& extension) {
  const std::vector<HistogramAxis> before = axes_;
  axes_[extension.axis] = extension.to;
  for (std::vector<double>* each : sums()) {
    std::vector<double> made(each->size());
    std::array<std::size_t, 3> bins{};
    for (std::size_t bin = 0; bin < made.size(); ++bin) {
      std::size_t rest = bin;
      bool is_inside = true;
      for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        const auto count = static_cast<std::size_t>(before[axis].bins) + 2, place = rest % count;
        rest /= count;
        is_inside = is_inside && place > 0 && place + 1 < count;
        bins[axis] = axes_[axis].bin_of(before[axis].centre(place));
      }
      if (is_inside) made[bin_at(bins)] += (*each)[bin];
    }
    *each = std::move(made);
  }
}

void DrawnHistogram::add(const DrawnHistogram& other) {
  auto own = sums();
  const auto more = const_cast<DrawnHistogram&>(other).sums();
  for (std::size_t i = 0; i < own.size(); ++i) {
    for (std::size_t bin = 0; bin < own[i]->size(); ++bin) (*own[i])[bin] += (*more[i])[bin];
  }
  is_weighted_ = is_weighted_ || other.is_weighted_;
  entries_ += other.entries_;
  add_moments(moments_, other.moments_);
}

double DrawnHistogram::profile_value(std::size_t bin) const {
  return contents_[bin] == 0 ? 0 : value_sums_[bin] / contents_[bin];
}
double DrawnHistogram::profile_error(std::size_t bin) const {
  if (contents_[bin] == 0 || squares_[bin] == 0) return 0;
  const double value = profile_value(bin);
  return std::sqrt(std::abs(value_squares_[bin] / contents_[bin] - value * value)) / std::sqrt(effective_entries(bin));
}
double DrawnHistogram::effective_entries(std::size_t bin) const {
  return squares_[bin] == 0 ? 0 : contents_[bin] * contents_[bin] / squares_[bin];
}

double DrawnHistogram::mean(std::size_t axis) const {
  return moments_.weights == 0 ? 0 : moments_.first[axis] / moments_.weights;
}
double DrawnHistogram::deviation(std::size_t axis) const {
  if (moments_.weights == 0) return 0;
  const double x = mean(axis);
  return std::sqrt(std::abs(moments_.second[axis] / moments_.weights - x * x));
}

double DrawnHistogram::beyond(std::size_t axis, bool above) const {
  double sum = 0;
  std::size_t stride = 1;
  for (std::size_t i = 0; i < axis; ++i) stride *= static_cast<std::size_t>(axes_[i].bins) + 2;
  const auto count = static_cast<std::size_t>(axes_[axis].bins) + 2;
  for (std::size_t bin = 0; bin < contents_.size(); ++bin) {
    if (bin / stride % count == (above ? count - 1 : 0)) sum += contents_[bin];
  }
  return sum;
}

}  // namespace tfilefs
