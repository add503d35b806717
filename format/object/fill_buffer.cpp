// SPDX-License-Identifier: Apache-2.0
#include "object/fill_buffer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "object/object_arrays.h"

namespace tfile {
namespace {

constexpr std::array<const char*, 3> kAxes = {"fXaxis", "fYaxis", "fZaxis"};

struct Axis {
  std::uint64_t bins;
  std::vector<double> edges;
  // The bin that TAxis::FindBin gives: 0 below, bins + 1 above and for what is no number.
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

// Each fill of these adds the whole part of its weight.
bool has_whole_contents(const ObjectMembers& members, const std::string& prefix) {
  const StoredNumbers* contents = members.numbers(prefix + "fArray");
  return contents && contents->dtype != Dtype::f4 && contents->dtype != Dtype::f8;
}

}  // namespace

// fBuffer: how many fills (negative: they are in the bins already), then a weight and a coordinate for each axis, again
// and again. An axis without a range gets one from the fills, by rules that are ROOT's own.
bool has_fill_buffer(const ObjectMembers& members, const std::string& prefix, std::size_t dimensions) {
  const StoredNumbers* buffer = members.numbers(prefix + "fBuffer");
  if (!buffer || buffer->count() <= dimensions + 1) return false;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::string axis = prefix + kAxes[i];
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
  const std::vector<double> buffer = members.doubles(prefix + "fBuffer");
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < dimensions; ++i) axes.push_back(axis_at(members, prefix + kAxes[i]));
  const std::size_t step = dimensions + 1;
  const bool whole_numbers = has_whole_contents(members, prefix);
  const double room = static_cast<double>((buffer.size() - 1) / step);
  const auto fills = static_cast<std::size_t>(std::min(buffer[0], room));
  for (std::size_t i = 0; i < fills; ++i) {
    const double weight = buffer[1 + i * step];
    std::uint64_t cell = 0, stride = 1;
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      cell += stride * axes[axis].find(buffer[2 + i * step + axis]);
      stride *= axes[axis].bins + 2;
    }
    if (cell >= contents.size()) continue;
    // The first weight makes the histogram keep sums of squares.
    if (squares.empty() && weight != 1) {
      squares.resize(contents.size());
      std::transform(contents.begin(), contents.end(), squares.begin(),
                     [](double content) { return std::abs(content); });
    }
    contents[cell] += whole_numbers ? std::trunc(weight) : weight;
    if (!squares.empty()) squares[cell] += weight * weight;
  }
}

}  // namespace tfile
