// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "object/object_members.h"

namespace tfile {

inline constexpr std::size_t kErrorsMax = 100;  // of y, in a TGraphMultiErrors

// The points of a graph that have both coordinates, and their errors.
struct GraphNumbers {
  std::vector<double> x, y, x_low, x_high, y_low, y_high;
  // The errors of y of a TGraphMultiErrors one by one; those above are ROOT's combination of them.
  std::vector<std::vector<double>> each_low, each_high;
};
GraphNumbers graph_numbers(const ObjectMembers&);

}  // namespace tfile
