// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "cache/read_counts.h"

namespace tfilefs {

// A count as people see it: its names in stats.json and in metrics, and its description.
struct Figure {
  Count count;
  std::string_view name;    // in stats.json
  std::string_view metric;  // in metrics, between "tfilefs_" and "_total"
  std::string_view help;
  bool is_time = false;  // counted in nanoseconds, shown in seconds
};

// All of them, in the order in which they are shown.
std::span<const Figure> figures();

}  // namespace tfilefs
