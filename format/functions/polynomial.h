// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace tfile {

// c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t N>
double polynomial(const std::array<double, N>& c, double x) {
  double value = 0;
  for (std::size_t i = N; i-- > 0;) value = value * x + c[i];
  return value;
}

}  // namespace tfile
