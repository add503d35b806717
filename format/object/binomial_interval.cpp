// SPDX-License-Identifier: Apache-2.0
#include "object/binomial_interval.h"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>

namespace tfile {
namespace {

namespace policies = boost::math::policies;

// Never throws. A value that cannot be computed becomes NaN, which a drawing leaves out.
using QuietInterval =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;

double beta_quantile(double level, double a, double b, Effort& effort) {
  // Some ten values of the incomplete beta function. Its series takes about the square root of its parameters in steps.
  constexpr double kSteps = 100, kStepsMax = 3e7;
  if (!effort.spend(static_cast<std::uint64_t>(std::min(kSteps * (10 + std::sqrt(a + b)), kStepsMax)))) return level;
  return boost::math::ibeta_inv(a, b, level, QuietInterval());
}

double normal_quantile(double level) { return std::sqrt(2.0) * boost::math::erf_inv(2 * level - 1, QuietInterval()); }

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
