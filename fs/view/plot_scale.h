// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace tfilefs {

// The smallest and the largest of the numbers added. Numbers that are not finite do not count, nor, on a logarithmic
// axis, those without a logarithm.
struct Range {
  bool is_log = false;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value);
  bool is_empty() const { return low > high; }
};

// An axis on the page: `begin` and `end` are the places of `low` and `high`.
struct Scale {
  double low = 0, high = 1, begin = 0, end = 1;
  bool is_log = false;
  double at(double value) const;
};

// A scale of positive extent (and positive values if logarithmic), whatever the numbers are.
Scale scale_of(double low, double high, double begin, double end, bool is_log = false);

}  // namespace tfilefs
