// SPDX-License-Identifier: Apache-2.0
#include "object/binomial_interval.h"

#include <algorithm>
#include <cmath>

namespace tfile {
namespace {

// Enough halvings for a double, where Newton's steps lead nowhere; the continued fraction converges in some dozens of
// steps, about the root of its parameters.
constexpr int kHalvings = 60, kFractionSteps = 500;

// The continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22).
double beta_fraction(double a, double b, double x, Effort& effort) {
  constexpr double kTiny = 1e-300, kEnough = 1e-14;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double value = d;
  constexpr std::uint64_t kStepEffort = 10;  // four divisions
  for (int m = 1; m <= kFractionSteps && effort.spend(kStepEffort); ++m) {
    for (const double term : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 + term * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + term / c;
      c = std::abs(c) < kTiny ? kTiny : c;
      value *= c * d;
    }
    if (std::abs(c * d - 1) < kEnough) break;
  }
  return value;
}

// The incomplete beta function and its slope, within (0, 1). `norm`: the logarithm of 1 / B(a, b).
struct Rise {
  double value = 0, slope = 0;
};
Rise incomplete_beta(double a, double b, double x, double norm, Effort& effort) {
  const double front = std::exp(norm + a * std::log(x) + b * std::log1p(-x));
  const double value = x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x, effort) / a
                                                 : 1 - front * beta_fraction(b, a, 1 - x, effort) / b;
  return {value, front / (x * (1 - x))};
}

// Where a function that rises from 0 to 1 between `low` and `high` passes `level`.
template <class Rising>
double crossing(Rising rising, double level, double low, double high) {
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (rising(middle) < level ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Newton's method between bounds: some eight values instead of the sixty of halving.
double beta_quantile(double level, double a, double b, Effort& effort) {
  constexpr double kNear = 1e-15;
  const double norm = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
  double low = 0, high = 1, x = a / (a + b);
  for (int i = 0; i < kHalvings && low < x && x < high; ++i) {
    const Rise at = incomplete_beta(a, b, x, norm, effort);
    (at.value < level ? low : high) = x;
    const double step = (level - at.value) / at.slope;
    if (std::abs(step) <= kNear * x) break;
    const double next = x + step;
    x = next > low && next < high ? next : (low + high) / 2;
  }
  return x;
}

double normal_quantile(double level) {
  return crossing([](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }, level, -40, 40);
}

}  // namespace

Interval binomial_interval(double passed, double total, double level, BinomialMethod method, Effort& effort) {
  if (!(total > 0) || !(passed >= 0) || passed > total || !(level > 0 && level < 1)) return {};
  const double value = passed / total, tail = (1 - level) / 2;
  if (method == BinomialMethod::clopper_pearson) {
    return {passed == 0 ? 0 : beta_quantile(tail, passed, total - passed + 1, effort),
            passed == total ? 1 : beta_quantile(1 - tail, passed + 1, total - passed, effort)};
  }
  const double kappa = normal_quantile(1 - tail), square = kappa * kappa;
  double middle = value, half = kappa * std::sqrt(value * (1 - value) / total);
  if (method == BinomialMethod::wilson) {
    middle = (passed + square / 2) / (total + square);
    half = kappa / (total + square) * std::sqrt(passed * (1 - value) + square / 4);
  } else if (method == BinomialMethod::agresti_coull) {
    middle = (passed + square / 2) / (total + square);
    half = kappa * std::sqrt(middle * (1 - middle) / (total + square));
  }
  return {std::max(middle - half, 0.0), std::min(middle + half, 1.0)};
}

}  // namespace tfile
