// SPDX-License-Identifier: Apache-2.0
#include "object/fill_buffer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "object/object_arrays.h"

namespace tfile {
namespace {

constexpr std::array<const char*, 3> kFilledAxes = {"fXaxis", "fYaxis", "fZaxis"};

struct Axis {
  std::uint64_t bins;
  std::vector<double> edges;
  // The bin that TAxis::FindBin gives: 0 below the range, bins + 1 above it or for NaN.
  std::uint64_t find(double x) const {
    if (x < edges.front()) return 0;
    if (!(x < edges.back())) return bins + 1;
    return static_cast<std::uint64_t>(std::upper_bound(edges.begin(), edges.end(), x) - edges.begin());
  }
};

Axis axis_at(const ObjectMembers& members, const std::string& path) {
  const auto bins = static_cast<std::uint32_t>(std::max<std::int64_t>(members.integer(path + ".fNbins", 1), 1));
  return {bins, axis_edges(members, path, bins)};
}

// Whether the contents are integers, to which a fill adds the whole part of its weight.
bool has_whole_contents(const ObjectMembers& members, const std::string& prefix) {
  const StoredNumbers* contents = members.numbers(prefix + "fArray");
  return contents && contents->dtype != Dtype::f4 && contents->dtype != Dtype::f8;
}

// Calls `each` with the cell of a fill, and the fill: `step` numbers, of which the first is the weight.
template <class Each>
void each_fill(const ObjectMembers& members, const std::string& prefix, std::size_t dimensions, std::size_t step,
               Each each) {
  const std::vector<double> buffer = members.doubles(prefix + "fBuffer");
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < dimensions; ++i) axes.push_back(axis_at(members, prefix + kFilledAxes[i]));
  const double room = static_cast<double>((buffer.size() - 1) / step);
  const auto fills = static_cast<std::size_t>(std::min(buffer[0], room));
  for (std::size_t i = 0; i < fills; ++i) {
    const std::span<const double> fill = std::span(buffer).subspan(1 + i * step, step);
    std::uint64_t cell = 0, stride = 1;
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      cell += stride * axes[axis].find(fill[1 + axis]);
      stride *= axes[axis].bins + 2;
    }
    each(cell, fill);
  }
}

}  // namespace

// fBuffer: the number of fills (negative: they are already in the bins), then for each fill its weight, a coordinate
// per axis and, for a profile, the value. An axis without a range would get one from the fills, by ROOT's own rules.
bool has_fill_buffer(const ObjectMembers& members, const std::string& prefix, std::size_t dimensions) {
  const StoredNumbers* buffer = members.numbers(prefix + "fBuffer");
  if (!buffer || buffer->count() <= dimensions + 1) return false;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::string axis = prefix + kFilledAxes[i];
    if (!(members.number(axis + ".fXmin").value_or(0) < members.number(axis + ".fXmax").value_or(0))) return false;
  }
  double fills = 0;
  StoredNumbers first = *buffer;
  first.bytes = first.bytes.first(first.stored_size());
  numbers_as_double(first, &fills);
  return fills >= 1;
}

void merge_fill_buffer(const ObjectMembers& members, const std::string& prefix, std::size_t dimensions,
                       std::vector<double>& contents, std::vector<double>& squares) {
  const bool whole_numbers = has_whole_contents(members, prefix);
  each_fill(members, prefix, dimensions, dimensions + 1, [&](std::uint64_t cell, std::span<const double> fill) {
    const double weight = fill[0];
    if (cell >= contents.size()) return;
    // From the first weight on, the histogram keeps sums of squares.
    if (squares.empty() && weight != 1) {
      squares.resize(contents.size());
      std::transform(contents.begin(), contents.end(), squares.begin(),
                     [](double content) { return std::abs(content); });
    }
    contents[cell] += whole_numbers ? std::trunc(weight) : weight;
    if (!squares.empty()) squares[cell] += weight * weight;
  });
}

void merge_profile_buffer(const ObjectMembers& members, const std::string& prefix, std::size_t dimensions,
                          ProfileSums sums) {
  constexpr std::array<std::pair<const char*, const char*>, 3> kLimits = {
      {{"fYmin", "fYmax"}, {"fZmin", "fZmax"}, {"fTmin", "fTmax"}}};
  const auto [low_name, high_name] = kLimits[dimensions - 1];
  const double low = members.number(prefix + low_name).value_or(0),
               high = members.number(prefix + high_name).value_or(0);
  each_fill(members, prefix, dimensions, dimensions + 2, [&](std::uint64_t cell, std::span<const double> fill) {
    const double weight = fill[0], value = fill[dimensions + 1];
    if (cell >= sums.values.size() || (low != high && !(value >= low && value <= high))) return;
    if (sums.squared_weights.empty() && weight != 1) sums.squared_weights = sums.weights;
    sums.values[cell] += weight * value;
    sums.squares[cell] += weight * value * value;
    sums.weights[cell] += weight;
    if (!sums.squared_weights.empty()) sums.squared_weights[cell] += weight * weight;
  });
}

}  // namespace tfile
