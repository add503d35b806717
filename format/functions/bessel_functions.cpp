// SPDX-License-Identifier: Apache-2.0
#include "functions/bessel_functions.h"

#include <math.h>  // y0 and similar functions are from POSIX

#include <array>
#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "functions/polynomial.h"
#include "tfile/formula_functions.h"

namespace tfile {
namespace {

constexpr double kNotThere = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// By Abramowitz and Stegun 9.8.1 to 9.8.8.
double bessel_i0(double x) {
  const double size = std::abs(x);
  if (size < 3.75)
    return polynomial(std::array{1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813},
                      x / 3.75 * (x / 3.75));
  return std::exp(size) / std::sqrt(size) *
         polynomial(std::array{0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537,
                               -0.01647633, 0.00392377},
                    3.75 / size);
}
double bessel_i1(double x) {
  const double size = std::abs(x);
  if (size < 3.75)
    return x * polynomial(std::array{0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411},
                          x / 3.75 * (x / 3.75));
  const double value = std::exp(size) / std::sqrt(size) *
                       polynomial(std::array{0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967,
                                             -0.02895312, 0.01787654, -0.00420059},
                                  3.75 / size);
  return x < 0 ? -value : value;
}
double bessel_k0(double x) {
  if (!(x > 0)) return kNotThere;
  if (x <= 2)
    return -std::log(x / 2) * bessel_i0(x) +
           polynomial(std::array{-0.57721566, 0.42278420, 0.23069756, 0.03488590, 0.00262698, 0.00010750, 0.00000740},
                      x * x / 4);
  return std::exp(-x) / std::sqrt(x) *
         polynomial(std::array{1.25331414, -0.07832358, 0.02189568, -0.01062446, 0.00587872, -0.00251540, 0.00053208},
                    2 / x);
}
double bessel_k1(double x) {
  if (!(x > 0)) return kNotThere;
  if (x <= 2)
    return std::log(x / 2) * bessel_i1(x) +
           polynomial(std::array{1.0, 0.15443144, -0.67278579, -0.18156897, -0.01919402, -0.00110404, -0.00004686},
                      x * x / 4) /
               x;
  return std::exp(-x) / std::sqrt(x) *
         polynomial(std::array{1.25331414, 0.23498619, -0.03655620, 0.01504268, -0.00780353, 0.00325614, -0.00068245},
                    2 / x);
}

// By the recurrence upwards. It ends where numbers do, also for a high order.
double bessel_k(double order, double x) {
  const double n = as_integer(order, Arithmetic::integer);
  if (n < 0) return 0;
  double before = bessel_k0(x), now = bessel_k1(x);
  if (n == 0) return before;
  for (double i = 1; i < n && std::isnormal(now); ++i) before = std::exchange(now, before + 2 * i / x * now);
  return now;
}

// By the recurrence from a higher order downwards, and so as far as ROOT is exact.
double bessel_i(double order, double x) {
  constexpr double kOrderMax = 10'000, kLarge = 1e10, kSteps = 40;
  const double n = as_integer(order, Arithmetic::integer), size = std::abs(x);
  if (n < 0 || n > kOrderMax) return n < 0 ? 0 : kNotThere;
  if (n < 2) return n == 0 ? bessel_i0(x) : bessel_i1(x);
  if (x == 0 || size > kLarge) return 0;
  double above = 0, now = 1, found = 0;
  for (double i = 2 * (n + std::floor(std::sqrt(kSteps * n))); i > 0; --i) {
    above = std::exchange(now, above + i * 2 / size * now);
    if (now > kLarge) {
      for (double* each : {&above, &now, &found}) *each /= kLarge;
    }
    if (i == n) found = above;
  }
  const double value = found * bessel_i0(size) / now;
  return x < 0 && std::fmod(n, 2) != 0 ? -value : value;
}

namespace {

constexpr double kTwoOverPi = 2 / std::numbers::pi;
// Beyond it, Struve's functions are those of Neumann and a few terms more, to the last digit.
constexpr double kFarOut = 40;

// DLMF 11.2.1 and 11.2.2, whose terms have this sign.
double struve_series(int order, double x, double sign) {
  double term = order == 0 ? kTwoOverPi * x : kTwoOverPi * x * x / 3, sum = term;
  constexpr int kTermsMax = 100;
  for (int k = 1; k <= kTermsMax && sum + term != sum; ++k) {
    term *= sign * (x / (2 * k + 1)) * (x / (2 * k + 1 + 2 * order));
    sum += term;
  }
  return sum;
}

// DLMF 11.4.19 and 11.4.20: a sum of Bessel functions, by their recurrence downwards. Between 1 and kFarOut.
double struve_of_bessels(int order, double x) {
  constexpr int kHigher = 60;
  double above = 0, now = 1, sum = 0, norm = 0;
  for (int n = static_cast<int>(x) / 2 * 2 + kHigher; n > 0; --n) {
    const bool is_even = n % 2 == 0;
    if (is_even) norm += 2 * now;
    if (is_even == (order == 1)) sum += order == 0 ? now / n : now * n / (n - 1) * n / (n + 1);
    above = std::exchange(now, 2 * n / x * now - above);
  }
  return 2 * kTwoOverPi * sum / (norm + now);
}

// DLMF 11.6.1.
double struve_far_out(int order, double x) {
  double term = order == 0 ? kTwoOverPi / x : kTwoOverPi, sum = 0;
  constexpr int kTermsMax = 15;
  for (int k = 1; k <= kTermsMax; ++k) {
    sum += term;
    term *= -((2 * k - 1) / x) * ((2 * k - 1 - 2 * order) / x);
  }
  return sum + (order == 0 ? ::y0(x) : ::y1(x));
}

}  // namespace

double struve_h(int order, double x) {
  constexpr double kSeriesMax = 2;
  const double size = std::abs(x);
  const double value = size <= kSeriesMax ? struve_series(order, size, -1)
                       : size <= kFarOut  ? struve_of_bessels(order, size)
                                          : struve_far_out(order, size);
  return x < 0 && order == 0 ? -value : value;
}

double struve_l(int order, double x) {
  namespace policies = boost::math::policies;
  using Quiet = policies::policy<policies::overflow_error<policies::ignore_error>, policies::promote_double<false>>;
  const double size = std::abs(x);
  if (!(size <= std::numeric_limits<double>::max())) return x;
  const double value =
      size <= kFarOut ? struve_series(order, size, 1) : boost::math::cyl_bessel_i(order, size, Quiet());
  return x < 0 && order == 0 ? -value : value;
}

}  // namespace tfile
