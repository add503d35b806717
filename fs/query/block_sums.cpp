// SPDX-License-Identifier: Apache-2.0
#include "query/block_sums.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>

namespace tfilefs {

double sum_of(std::span<const double> numbers) {
  double sum = 0;
  for (const double x : numbers) sum += x;
  return sum;
}

double squares_around(double mean, std::span<const double> numbers) {
  double sum = 0;
  for (const double x : numbers) sum += (x - mean) * (x - mean);
  return sum;
}

WithinSums sums_within(double low, double high, std::span<const double> numbers) {
  double count = 0, first = 0, second = 0;
  for (const double x : numbers) {
    const bool is_within = (x >= low) & (x < high);
    const double counted = is_within ? x : 0;
    count += is_within ? 1.0 : 0.0;
    first += counted;
    second += counted * counted;
  }
  return {count, first, second};
}

// Several at a time: each waits for the one before.
Extremes extremes_of(std::span<const double> numbers) {
  constexpr std::size_t kLanes = 4;
  std::array<double, kLanes> least, most;
  least.fill(HUGE_VAL);
  most.fill(-HUGE_VAL);
  for (std::size_t i = 0; i < numbers.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double x = numbers[std::min(i + lane, numbers.size() - 1)];
      least[lane] = std::min(least[lane], x);
      most[lane] = std::max(most[lane], x);
    }
  return {std::ranges::min(least), std::ranges::max(most)};
}

bool are_finite(std::span<const double> numbers) {
  double others = 0;
  for (const double x : numbers) others += std::abs(x) <= DBL_MAX ? 0.0 : 1.0;
  return others == 0;
}

bool are_ones(std::span<const double> numbers) {
  double others = 0;
  for (const double x : numbers) others += x == 1 ? 0.0 : 1.0;
  return others == 0;
}

}  // namespace tfilefs
