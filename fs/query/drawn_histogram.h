// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "query/histogram_axis.h"
#include "tfile/new_object.h"

namespace tfilefs {

// Values to be filled, each with its weight: by axis x first, of a profile the values behind its axes.
struct DrawnValues {
  explicit DrawnValues(std::size_t of_each = 0) : numbers(of_each) {}
  std::vector<std::vector<double>> numbers;
  std::vector<double> weights;
  std::size_t size() const { return weights.size(); }
  void append(const DrawnValues&, std::size_t begin, std::size_t end);
  void add(const DrawnValues&, std::size_t i);
};

// A histogram of up to three axes, or a profile of up to two: its bins as those of ROOT's TH1, and the sums of what was
// filled within the axes.
class DrawnHistogram {
 public:
  DrawnHistogram(std::vector<HistogramAxis> axes, bool is_profile);

  std::size_t dimensions() const { return axes_.size(); }
  bool is_profile() const { return is_profile_; }
  const std::vector<HistogramAxis>& axes() const { return axes_; }

  // Values beyond an axis go into the bins there, or to `beyond`, if that is given.
  void fill(const DrawnValues&, DrawnValues* beyond = nullptr);
  // One of them, of which an axis that does not reach so far is extended.
  struct Extension {
    std::size_t axis = 0;
    HistogramAxis to;
  };
  // The extensions that it takes, which are done.
  std::vector<Extension> fill_extending(const DrawnValues&, std::size_t i);
  void extend(const Extension&);
  // Adds one of the same axes.
  void add(const DrawnHistogram&);

  double entries() const { return entries_; }
  // Bins with those beyond the axes, x fastest. Of a profile the sums of weights.
  std::span<const double> contents() const { return contents_; }
  std::span<const double> squares() const { return squares_; }  // of weights
  bool is_weighted() const { return is_weighted_; }             // with others than 1
  // Only a profile has them, by bin: sums of weight x value, and of weight x value^2.
  std::span<const double> value_sums() const { return value_sums_; }
  std::span<const double> value_squares() const { return value_squares_; }
  // For a profile: its value, the error of that, and the number of entries that tell as much, as TProfile gives them.
  double profile_value(std::size_t bin) const;
  double profile_error(std::size_t bin) const;
  double effective_entries(std::size_t bin) const;

  // For what lies within all axes, by axis. The moments have the value of a profile behind its axes.
  double mean(std::size_t axis) const;
  double deviation(std::size_t axis) const;
  double sum_of_weights() const { return moments_.weights; }
  const tfile::OfferedHistogram::Moments& moments() const { return moments_; }
  std::size_t bin_at(std::span<const std::size_t> bins) const;  // of each axis
  double beyond(std::size_t axis, bool above) const;            // contents

 private:
  // From value `begin` to below `end`.
  template <std::size_t dimensions, std::size_t numbers>
  void fill_axes(const DrawnValues&, std::size_t begin, std::size_t end, DrawnValues* beyond);
  void fill_line(const DrawnValues&, DrawnValues* beyond);
  bool fill_alike(std::span<const double> numbers, std::span<const double> weights, bool keeps_beyond);
  void fill_bin(std::size_t bin, double weight, double value) {
    contents_[bin] += weight;
    squares_[bin] += weight * weight;
    if (!is_profile_) return;
    value_sums_[bin] += weight * value;
    value_squares_[bin] += weight * value * value;
  }
  std::vector<std::vector<double>*> sums();

  std::vector<HistogramAxis> axes_;
  bool is_profile_ = false, is_weighted_ = false;
  std::vector<double> contents_, squares_, value_sums_, value_squares_;
  double entries_ = 0;
  tfile::OfferedHistogram::Moments moments_;
};

}  // namespace tfilefs
