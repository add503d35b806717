// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace tfilefs {

// Sums over the numbers of a block, of which compilers make vectors: added in any order. Pure.

double sum_of(std::span<const double>);
double squares_around(double mean, std::span<const double>);

// The values from `low` up to below `high`: how many they are, their sum, and that of their squares.
struct WithinSums {
  double count = 0, first = 0, second = 0;
};
WithinSums sums_within(double low, double high, std::span<const double>);

// The least and largest of numbers of which none is NaN; without any, infinities the wrong way round.
struct Extremes {
  double least = 0, most = 0;
};
Extremes extremes_of(std::span<const double>);

bool are_finite(std::span<const double>);
bool are_ones(std::span<const double>);

}  // namespace tfilefs
