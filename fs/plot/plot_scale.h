// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <vector>

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

// The colours of viridis from 0 to 1, "#rrggbb": even steps of lightness, also for colour-blind readers and on paper.
std::string viridis(double part);

struct Tick {
  double value = 0;
  std::string label;  // in TLatex; empty: none
  bool is_minor = false;
};

// Round numbers from `low` to `high` (finite, low < high), about `wanted` of them and at most twice as many.
std::vector<Tick> ticks(double low, double high, int wanted);

// Powers of ten, with labels; and their multiples between them if there are few decades. 0 < low < high.
std::vector<Tick> log_ticks(double low, double high);

// The same for times in seconds since `offset` (in seconds since the epoch): round minutes, hours, days, months, years,
// in UTC.
std::vector<Tick> time_ticks(double low, double high, double offset, int wanted);

}  // namespace tfilefs
