// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tfilefs {

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
