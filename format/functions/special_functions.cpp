// SPDX-License-Identifier: Apache-2.0
#include <math.h>  // j0 and similar functions are from POSIX

#include <algorithm>
#include <array>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/expint.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <utility>

#include "functions/bessel_functions.h"
#include "functions/polynomial.h"
#include "tfile/formula_functions.h"

namespace tfile {
namespace {

using std::numbers::pi;
using Arguments = std::span<const double>;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

double at(Arguments a, std::size_t i, double otherwise) { return i < a.size() ? a[i] : otherwise; }

double square(double x) { return x * x; }

double normal(double x, double mean, double sigma) {
  return std::exp(-square((x - mean) / sigma) / 2) / (std::abs(sigma) * std::sqrt(2 * pi));
}

// --- Landau's density, by the rational approximations of CERNLIB G110 (DENLAN) ---

struct Ratio {
  std::array<double, 5> over, under;
  double at(double x) const { return polynomial(over, x) / polynomial(under, x); }
};

double landau(double v) {
  static constexpr Ratio kRise{{0.4259894875, -0.1249762550, 0.03984243700, -0.006298287635, 0.001511162253},
                               {1, -0.3388260629, 0.09594393323, -0.01608042283, 0.003778942063}};
  static constexpr Ratio kPeak{{0.1788541609, 0.1173957403, 0.01488850518, -0.001394989411, 0.0001283617211},
                               {1, 0.7428795082, 0.3153932961, 0.06694219548, 0.008790609714}};
  static constexpr Ratio kFall{{0.1788544503, 0.09359161662, 0.006325387654, 0.00006611667319, -0.000002031049101},
                               {1, 0.6097809921, 0.2560616665, 0.04746722384, 0.006957301675}};
  static constexpr Ratio kTail[] = {{{0.9874054407, 118.6723273, 849.2794360, -743.7792444, 427.0262186},
                                     {1, 106.8615961, 337.6496214, 2016.712389, 1597.063511}},
                                    {{1.003675074, 167.5702434, 4789.711289, 21217.86767, -22324.94910},
                                     {1, 156.9424537, 3745.310488, 9834.698876, 66924.28357}},
                                    {{1.000827619, 664.9143136, 62972.92665, 475554.6998, -5743609.109},
                                     {1, 651.4101098, 56974.73333, 165917.4725, -2815759.939}}};
  static constexpr std::array<double, 4> kFar{1, 0.04166666667, -0.01996527778, 0.02709538966};
  static constexpr std::array<double, 3> kVeryFar{1, -1.845568670, -4.284640743};
  if (!(v == v)) return v;
  if (v < -5.5) {
    const double u = std::exp(v + 1);
    constexpr double kSmallest = 1e-10;
    if (u < kSmallest) return 0;
    return 0.3989422803 * std::exp(-1 / u) / std::sqrt(u) * polynomial(kFar, u);
  }
  if (v < -1) {
    const double u = std::exp(-v - 1);
    return std::exp(-u) * std::sqrt(u) * kRise.at(v);
  }
  if (v < 1) return kPeak.at(v);
  if (v < 5) return kFall.at(v);
  if (v < 300) {
    const double u = 1 / v;
    return square(u) * kTail[v < 12 ? 0 : v < 50 ? 1 : 2].at(u);
  }
  const double u = 1 / (v - v * std::log(v) / (v + 1));
  return square(u) * polynomial(kVeryFar, u);
}

double landau_of(Arguments a) {
  const double mpv = at(a, 1, 0), sigma = at(a, 2, 1);
  if (!(sigma > 0)) return 0;
  const double value = landau((a[0] - mpv) / sigma);
  return at(a, 3, 0) != 0 ? value / sigma : value;
}

// Its integral, by those of CERNLIB G110 (DISLAN).
double landau_below(double v) {
  static constexpr Ratio kRise{{0.2514091491, -0.06250580444, 0.01458381230, -0.002108817737, 0.0007411247290},
                               {1, -0.005571175625, 0.06225310236, -0.003137378427, 0.001931496439}};
  static constexpr Ratio kPeak{{0.2868328584, 0.3564363231, 0.1523518695, 0.02251304883},
                               {1, 0.6191136137, 0.1720721448, 0.02278594771}};
  static constexpr Ratio kFall{{0.2868329066, 0.3003828436, 0.09950951941, 0.008733827185},
                               {1, 0.4237190502, 0.1095631512, 0.008693851567}};
  static constexpr Ratio kTail[] = {
      {{1.000351630, 4.503592498, 10.85883880, 7.536052269}, {1, 5.539969678, 19.33581111, 27.21321508}},
      {{1.000006517, 49.09414111, 85.05544753, 153.2153455}, {1, 50.09928881, 139.9819104, 420.0002909}},
      {{1.000000983, 132.9868456, 916.2149244, -960.5054274}, {1, 133.9887843, 1055.990413, 553.2224619}}};
  static constexpr std::array<double, 4> kFar{1, -0.4583333333, 0.6675347222, -1.641741416};
  static constexpr std::array<double, 4> kVeryFar{1, -1, 0.4227843351, 2.043403138};
  if (!(v == v)) return v;
  if (v < -5.5) {
    const double u = std::exp(v + 1);
    return 0.3989422803 * std::exp(-1 / u) * std::sqrt(u) * polynomial(kFar, u);
  }
  if (v < -1) {
    const double u = std::exp(-v - 1);
    return std::exp(-u) / std::sqrt(u) * kRise.at(v);
  }
  if (v < 1) return kPeak.at(v);
  if (v < 4) return kFall.at(v);
  if (v < 300) return kTail[v < 12 ? 0 : v < 50 ? 1 : 2].at(1 / v);
  return polynomial(kVeryFar, 1 / (v - v * std::log(v) / (v + 1)));
}
double landau_below(Arguments a) {
  const double width = at(a, 1, 1);
  return width > 0 ? landau_below((a[0] - at(a, 2, 0)) / width) : 0;
}

// --- a normal distribution with a power-law tail ---

double crystal_ball(double x, double alpha, double n, double sigma, double mean) {
  if (sigma < 0) return 0;
  const double z = (x - mean) / sigma * (alpha < 0 ? -1 : 1), size = std::abs(alpha);
  if (z > -size) return std::exp(-z * z / 2);
  const double ratio = n / size;
  return std::exp(-size * size / 2) * std::pow(ratio / (ratio - size - z), n);
}

double crystal_ball_density(double x, double alpha, double n, double sigma, double mean) {
  if (sigma < 0 || n <= 1) return n <= 1 ? kNone : 0;
  const double size = std::abs(alpha);
  const double tail = n / size / (n - 1) * std::exp(-size * size / 2);
  const double core = std::sqrt(pi / 2) * (1 + std::erf(size / std::numbers::sqrt2));
  return crystal_ball(x, alpha, n, sigma, mean) / (sigma * (tail + core));
}

// --- a normal distribution convolved with a Lorentz curve ---

// exp(-z^2) erfc(-iz) above the real axis, by Humlicek's four rational approximations (JQSRT 27, 437), to 1e-4.
std::complex<double> faddeeva(double x, double y) {
  const std::complex<double> t(y, -x);
  const double s = std::abs(x) + y;
  if (s >= 15) return t * 0.5641896 / (0.5 + t * t);
  if (s >= 5.5) {
    const auto u = t * t;
    return t * (1.410474 + u * 0.5641896) / (0.75 + u * (3.0 + u));
  }
  if (y >= 0.195 * std::abs(x) - 0.176)
    return (16.4955 + t * (20.20933 + t * (11.96482 + t * (3.778987 + t * 0.5642236)))) /
           (16.4955 + t * (38.82363 + t * (39.27121 + t * (21.69274 + t * (6.699398 + t)))));
  const auto u = t * t;
  return std::exp(u) -
         t *
             (36183.31 -
              u * (3321.9905 - u * (1540.787 - u * (219.0313 - u * (35.76683 - u * (1.320522 - u * 0.56419)))))) /
             (32066.6 -
              u * (24322.84 - u * (9022.228 - u * (2186.181 - u * (364.2191 - u * (61.57037 - u * (1.841439 - u)))))));
}

double lorentz(double x, double width) { return width / (2 * pi) / (x * x + width * width / 4); }

double voigt(Arguments a) {
  const double sigma = a[1], width = a[2];
  if (sigma < 0 || width < 0 || (sigma == 0 && width == 0)) return 0;
  if (sigma == 0) return lorentz(a[0], width);
  if (width == 0) return normal(a[0], 0, sigma);
  const double unit = sigma * std::numbers::sqrt2;
  return faddeeva(a[0] / unit, width / 2 / unit).real() / (sigma * std::sqrt(2 * pi));
}

// --- distributions ---

double gamma_density(double x, double shape, double origin, double scale) {
  const double z = (x - origin) / scale;
  if (z < 0 || shape <= 0 || scale <= 0) return 0;
  if (z == 0) return shape == 1 ? 1 / scale : shape < 1 ? kNone : 0;
  return std::exp((shape - 1) * std::log(z) - z - std::lgamma(shape)) / scale;
}

double log_normal(double x, double sigma, double origin, double median) {
  if (x < origin || sigma <= 0 || median <= 0) return 0;
  if (x == origin) return 0;
  const double z = std::log((x - origin) / median) / sigma;
  return std::exp(-z * z / 2) / ((x - origin) * sigma * std::sqrt(2 * pi));
}

double poisson(double x, double mean) {
  if (x < 0) return 0;
  if (x == 0) return std::exp(-mean);
  return std::exp(x * std::log(mean) - std::lgamma(x + 1) - mean);
}

double student(double t, double freedom) {
  if (freedom < 1) return kNone;
  return std::exp(std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2)) / std::sqrt(freedom * pi) *
         std::pow(1 + t * t / freedom, -(freedom + 1) / 2);
}

double two_normal(Arguments a) {
  const double sx = at(a, 2, 1), sy = at(a, 3, 1), rho = at(a, 4, 0);
  const double u = (a[0] - at(a, 5, 0)) / sx, v = (a[1] - at(a, 6, 0)) / sy, left = 1 - rho * rho;
  return std::exp(-(u * u - 2 * rho * u * v + v * v) / (2 * left)) / (2 * pi * sx * sy * std::sqrt(left));
}

double beta(double a, double b) { return std::exp(std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b)); }

double legendre(double degree, double x) {
  constexpr double kPolynomialDegreeMax = 100;
  if (!(degree >= 0 && degree <= kPolynomialDegreeMax)) return kNone;
  double before = 1, now = x;
  if (degree < 1) return 1;
  for (int i = 2; i <= static_cast<int>(degree); ++i) {
    const double next = ((2 * i - 1) * x * now - (i - 1) * before) / i;
    before = std::exchange(now, next);
  }
  return now;
}

template <std::size_t Degree>
double chebyshev(Arguments a) {
  const double x = a[0];
  double before = 1, now = x, value = a[1] + a[2] * x;
  for (std::size_t i = 2; i <= Degree; ++i) {
    const double next = 2 * x * now - before;
    value += a[i + 1] * next;
    before = std::exchange(now, next);
  }
  return value;
}

// --- cumulative distributions ---

namespace policies = boost::math::policies;

// Never throws, and a series that does not converge gives its last value: a formula may call these functions with any
// arguments, thousands of times.
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>,
                     policies::max_series_iterations<1000>, policies::max_root_iterations<50>>;

// The regularised incomplete gamma functions, of the shape `a`.
double gamma_below(double a, double x) {
  if (!(a > 0)) return a == 0 ? 1 : kNone;
  return x > 0 ? boost::math::gamma_p(a, x, Quiet()) : 0;
}
double gamma_above(double a, double x) {
  if (!(a > 0)) return a == 0 ? 0 : kNone;
  return x > 0 ? boost::math::gamma_q(a, x, Quiet()) : 1;
}
double chisquared_above(double x, double freedom) {
  if (!(freedom > 0)) return 0;
  return x > 0 ? boost::math::gamma_q(freedom / 2, x / 2, Quiet()) : x == 0 ? 1 : 0;
}

// As TMath has it: of a whole number of degrees of freedom.
double probability(double x, double freedom) {
  const double whole = as_integer(freedom, Arithmetic::integer);
  if (whole > 0 && !(x < std::numeric_limits<double>::infinity())) return kNone;
  return chisquared_above(x, whole);
}

// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double x, double a, double b) {
  constexpr double kLeast = 1e-30, kNear = 3e-14;
  constexpr int kTermsMax = 500;
  const auto kept_off_zero = [](double value) { return std::abs(value) < kLeast ? kLeast : value; };
  double c = 1, d = 1 / kept_off_zero(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m <= kTermsMax; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double each : {even, odd}) {
      d = 1 / kept_off_zero(1 + each * d);
      c = kept_off_zero(1 + each / c);
      value *= change = c * d;
    }
    if (std::abs(change - 1) <= kNear) break;
  }
  return value;
}

double binomial(double total, double chosen) {
  const double n = as_integer(total, Arithmetic::integer), k = as_integer(chosen, Arithmetic::integer);
  if (n < 0 || k < 0 || k > n) return kNone;
  const double fewer = std::min(k, n - k);
  constexpr double kFactorsMax = 1000;
  if (fewer > kFactorsMax) return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1));
  double ways = 1;
  for (double i = 1; i <= fewer; ++i) ways *= (n - fewer + i) / i;
  return ways;
}

// The regularised incomplete beta function.
double beta_below(double x, double a, double b) {
  if (!(a > 0) || !(b > 0)) return kNone;
  return x <= 0 ? 0 : x >= 1 ? 1 : boost::math::ibeta(a, b, x, Quiet());
}
double beta_above(double x, double a, double b) { return beta_below(1 - x, b, a); }
double beta_density(double x, double a, double b) {
  if (x < 0 || x > 1) return 0;
  return std::pow(x, a - 1) * std::pow(1 - x, b - 1) / beta(a, b);
}
double fisher_density(double x, double n, double m) {
  if (x < 0) return 0;
  if (n < 1 || m < 1) return kNone;
  return std::exp(n / 2 * std::log(n) + m / 2 * std::log(m) + (n / 2 - 1) * std::log(x) -
                  (n + m) / 2 * std::log(m + n * x)) /
         beta(n / 2, m / 2);
}
double student_below(double t, double freedom) {
  const double tail = beta_below(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
  return t > 0 ? 1 - tail : tail;
}

double student_quantile(double p, double freedom, bool is_of_lower_tail) {
  if (!(freedom >= 1 && p > 0 && p < 1)) return 0;
  const double tail = std::min(p, 1 - p);
  double rest = 1;
  const double x = boost::math::ibeta_inv(freedom / 2, 0.5, 2 * tail, &rest, Quiet());
  const double size = std::sqrt(freedom * rest / x);
  return (p > 0.5) == is_of_lower_tail ? size : -size;
}

double binomial_density(double passed, double p, double total) {
  if (passed < 0 || passed > total) return 0;
  const double ways = std::lgamma(total + 1) - std::lgamma(passed + 1) - std::lgamma(total - passed + 1);
  return std::exp(ways) * std::pow(p, passed) * std::pow(1 - p, total - passed);
}
double binomial_below(double passed, double p, double total) {
  return passed < 0 ? 0 : passed >= total ? 1 : 1 - beta_below(p, passed + 1, total - passed);
}
// That at least so many pass.
double binomial_from(double passed, double p, double total) {
  passed = as_integer(passed, Arithmetic::integer);
  total = as_integer(total, Arithmetic::integer);
  if (passed <= 0) return 1;
  if (passed >= total) return passed > total ? 0 : std::pow(p, total);
  return beta_below(p, passed, total - passed + 1);
}
double negative_binomial_density(double failed, double p, double passed) {
  if (passed < 0 || p < 0 || p > 1) return 0;
  const double ways = std::lgamma(failed + passed) - std::lgamma(failed + 1) - std::lgamma(passed);
  return std::exp(ways) * std::pow(p, passed) * std::pow(1 - p, failed);
}

// That at most so many fail, or more.
double negative_binomial_below(double failed, double p, double passed) {
  return p < 0 || p > 1 ? 0 : beta_below(p, passed, failed + 1);
}
double negative_binomial_above(double failed, double p, double passed) {
  return p < 0 || p > 1 ? 0 : beta_above(p, passed, failed + 1);
}

double log_normal_above(double x, double mean, double sigma) {
  return std::erfc((std::log(x) - mean) / sigma / std::numbers::sqrt2) / 2;
}

// The part of Fisher's distribution below x or above.
double fisher_part(double x, double n, double m, bool is_below) {
  if (n < 0 || m < 0) return kNone;
  if (!(x > 0)) return is_below ? 0 : 1;
  const double rest = m / (m + n * x);
  // The smaller of rest and 1 - rest has all of its digits.
  if (is_below) return n * x < m ? beta_below(n * x / (m + n * x), n / 2, m / 2) : 1 - beta_below(rest, m / 2, n / 2);
  return n * x < m ? 1 - beta_below(n * x / (m + n * x), n / 2, m / 2) : beta_below(rest, m / 2, n / 2);
}

double student_above(double t, double freedom) { return student_below(-t, freedom); }

// The integral of a crystal ball of height 1 from z on, in widths; its tail is at negative z. z: minus infinity for
// all.
double crystal_ball_from(double z, double alpha, double power) {
  const double scale = std::sqrt(pi / 2);
  if (z > -alpha) return scale * std::erfc(z / std::numbers::sqrt2);
  const double core = scale * (1 + std::erf(alpha / std::numbers::sqrt2));
  // The tail falls as (b - z)^-power, and meets the core at -alpha with the same height and slope.
  const double reach = power / alpha, height = std::exp(-alpha * alpha / 2);
  const double far = (reach - alpha - z) / reach;  // 1 at -alpha
  if (power == 1) return core + height * reach * std::log(far);
  return core + height * reach / (power - 1) * (1 - std::pow(far, 1 - power));
}
// x, alpha, power, width and perhaps the middle.
double crystal_ball_from(Arguments a) {
  if (a[1] == 0 || a[3] == 0) return 0;
  const double z = (a[0] - at(a, 4, 0)) / a[3];
  return a[3] * crystal_ball_from(a[1] < 0 ? -z : z, std::abs(a[1]), a[2]);
}
double crystal_ball_part(Arguments a, bool is_below) {
  if (!(a[2] > 1)) return kNone;
  const double all = crystal_ball_from(-kInfinite, std::abs(a[1]), a[2]) * a[3];
  const double part = crystal_ball_from(a) / all;
  return (a[1] > 0) == is_below ? 1 - part : part;
}

// ---- quantiles: of the lower tail, and of the upper one

double normal_inverse(double p, double sigma) {
  if (!(sigma > 0)) return kNone;
  return p <= 0   ? -kInfinite
         : p >= 1 ? kInfinite
                  : -sigma * std::numbers::sqrt2 * boost::math::erfc_inv(2 * p, Quiet());
}
double cauchy_quantile(double p, double half_width) {
  if (p == 0) return -kInfinite;
  return p < 0.5 ? -half_width / std::tan(pi * p) : half_width * std::tan(pi * (p - 0.5));
}
double cauchy_quantile_above(double p, double half_width) { return -cauchy_quantile(p, half_width); }
double gamma_quantile(double p, double shape) {
  if (!(shape > 0 && p >= 0 && p <= 1)) return kNone;
  return p == 0 ? 0 : p == 1 ? kInfinite : boost::math::gamma_p_inv(shape, p, Quiet());
}
double gamma_quantile_above(double p, double shape) {
  if (!(shape > 0 && p >= 0 && p <= 1)) return kNone;
  return p == 1 ? 0 : p == 0 ? kInfinite : boost::math::gamma_q_inv(shape, p, Quiet());
}
// `rest`: 1 less the quantile.
double beta_inverse(double p, double a, double b, double* rest = nullptr) {
  if (!(a > 0 && b > 0 && p >= 0 && p <= 1)) return kNone;
  return boost::math::ibeta_inv(a, b, p, rest, Quiet());
}
double beta_inverse_above(double p, double a, double b, double* rest = nullptr) {
  if (!(a > 0 && b > 0 && p >= 0 && p <= 1)) return kNone;
  return boost::math::ibetac_inv(a, b, p, rest, Quiet());
}
double fisher_quantile(double p, double n, double m, bool is_of_lower_tail) {
  double rest = kNone;
  const double y = is_of_lower_tail ? beta_inverse(p, n / 2, m / 2, &rest) : beta_inverse_above(p, n / 2, m / 2, &rest);
  return m / n * y / rest;
}
// For any degrees of freedom.
double tdistribution_quantile(double p, double freedom, bool is_of_lower_tail) {
  if (!(freedom > 0 && p >= 0 && p <= 1)) return kNone;
  double rest = 1;
  const double x = boost::math::ibeta_inv(freedom / 2, 0.5, 2 * std::min(p, 1 - p), &rest, Quiet());
  const double size = std::sqrt(freedom * rest / x);
  return (p > 0.5) == is_of_lower_tail ? size : -size;
}

// Kolmogorov's distribution: of its two series, the one that needs few terms.
double kolmogorov_above(double z) {
  const double u = std::abs(z);
  if (u < 0.2) return 1;
  double sum = 0;
  if (u < 0.755) {
    for (const int odd : {1, 3, 5}) sum += std::exp(-square(odd * pi / u) / 8);
    return 1 - std::sqrt(2 * pi) / u * sum;
  }
  for (int j = 1; j <= 4; ++j) sum += (j % 2 == 1 ? 2 : -2) * std::exp(-2 * square(j * u));
  return sum;
}

// The real part of the dilogarithm: a power series between -1/2 and 1/2, elsewhere reduced by functional equations.
double dilogarithm(double x) {
  constexpr double kAtOne = pi * pi / 6;
  if (x == 1) return kAtOne;
  if (std::isinf(x)) return -std::numeric_limits<double>::infinity();
  if (x > 1) return 2 * kAtOne - square(std::log(x)) / 2 - dilogarithm(1 / x);
  if (x > 0.5) return kAtOne - std::log(x) * std::log1p(-x) - dilogarithm(1 - x);
  if (x < -0.5) return -square(std::log1p(-x)) / 2 - dilogarithm(x / (x - 1));
  constexpr int kTerms = 50;
  double sum = 0, power = 1;
  for (int i = 1; i <= kTerms; ++i) sum += (power *= x) / (i * i);
  return x == x ? sum : x;
}

bool are_same(double x, double y) { return x == y || std::abs(x - y) < std::numeric_limits<double>::min(); }

constexpr SpecialFunction kFunctions[] = {
    {"Landau", 1, 4, landau_of},
    {"landau_pdf", 1, 3,
     [](Arguments a) { return at(a, 1, 1) > 0 ? landau((a[0] - at(a, 2, 0)) / at(a, 1, 1)) / at(a, 1, 1) : 0; }},
    {"LandauI", 1, 1, landau_below},
    {"landau_cdf", 1, 3, landau_below},
    {"landau_cdf_c", 1, 3, [](Arguments a) { return 1 - landau_below(a); }},
    {"Gaus", 1, 4,
     [](Arguments a) {
       const double mean = at(a, 1, 0), sigma = at(a, 2, 1);
       return at(a, 3, 0) != 0 ? normal(a[0], mean, sigma) : std::exp(-square((a[0] - mean) / sigma) / 2);
     }},
    {"normal_pdf", 1, 3, [](Arguments a) { return normal(a[0], at(a, 2, 0), at(a, 1, 1)); }},
    {"gaussian_pdf", 1, 3, [](Arguments a) { return normal(a[0], at(a, 2, 0), at(a, 1, 1)); }},
    {"normal_cdf", 1, 3,
     [](Arguments a) { return std::erfc(-(a[0] - at(a, 2, 0)) / at(a, 1, 1) / std::numbers::sqrt2) / 2; }},
    {"Freq", 1, 1, [](Arguments a) { return std::erfc(-a[0] / std::numbers::sqrt2) / 2; }},
    {"bigaussian_pdf", 2, 7, two_normal},
    {"crystalball_function", 3, 5,
     [](Arguments a) { return crystal_ball(a[0], a[1], a[2], at(a, 3, 1), at(a, 4, 0)); }},
    {"crystalball_pdf", 3, 5,
     [](Arguments a) { return crystal_ball_density(a[0], a[1], a[2], at(a, 3, 1), at(a, 4, 0)); }},
    {"BreitWigner", 1, 3, [](Arguments a) { return lorentz(a[0] - at(a, 1, 0), at(a, 2, 1)); }},
    {"breitwigner_pdf", 2, 3, [](Arguments a) { return lorentz(a[0] - at(a, 2, 0), a[1]); }},
    {"BreitWignerRelativistic", 1, 3,
     [](Arguments a) {
       const double m = at(a, 1, 0), w = at(a, 2, 1), mm = m * m, ww = w * w, g = std::sqrt(mm * (mm + ww));
       const double k = 2 * std::numbers::sqrt2 * m * w * g / (pi * std::sqrt(mm + g));
       return k / (square(a[0] * a[0] - mm) + mm * ww);
     }},
    {"CauchyDist", 1, 3, [](Arguments a) { return lorentz(a[0] - at(a, 1, 0), 2 * at(a, 2, 1)); }},
    {"cauchy_pdf", 1, 3, [](Arguments a) { return lorentz(a[0] - at(a, 2, 0), 2 * at(a, 1, 1)); }},
    {"LaplaceDist", 1, 3,
     [](Arguments a) { return std::exp(-std::abs((a[0] - at(a, 1, 0)) / at(a, 2, 1))) / (2 * at(a, 2, 1)); }},
    {"LaplaceDistI", 1, 3,
     [](Arguments a) {
       const double tail = std::exp(-std::abs((a[0] - at(a, 1, 0)) / at(a, 2, 1))) / 2;
       return a[0] <= at(a, 1, 0) ? tail : 1 - tail;
     }},
    {"Voigt", 3, 4, voigt},
    {"Poisson", 2, 2, [](Arguments a) { return a[1] < 0 ? kNone : poisson(a[0], a[1]); }},
    {"PoissonI", 2, 2,
     [](Arguments a) { return a[1] < 0 ? kNone : poisson(as_integer(a[0], Arithmetic::integer), a[1]); }},
    {"poisson_pdf", 2, 2, [](Arguments a) { return poisson(std::floor(a[0]), a[1]); }},
    {"GammaDist", 2, 4, [](Arguments a) { return gamma_density(a[0], a[1], at(a, 2, 0), at(a, 3, 1)); }},
    {"gamma_pdf", 3, 4, [](Arguments a) { return gamma_density(a[0], a[1], at(a, 3, 0), a[2]); }},
    {"chisquared_pdf", 2, 3, [](Arguments a) { return gamma_density(a[0], a[1] / 2, at(a, 2, 0), 2); }},
    {"exponential_pdf", 1, 3,
     [](Arguments a) { return a[0] < at(a, 2, 0) ? 0 : at(a, 1, 1) * std::exp(-at(a, 1, 1) * (a[0] - at(a, 2, 0))); }},
    {"uniform_pdf", 3, 4,
     [](Arguments a) {
       const double x = a[0] - at(a, 3, 0);
       return x >= a[1] && x < a[2] ? 1 / (a[2] - a[1]) : 0;
     }},
    {"LogNormal", 2, 4, [](Arguments a) { return log_normal(a[0], a[1], at(a, 2, 0), at(a, 3, 1)); }},
    {"lognormal_pdf", 3, 4, [](Arguments a) { return log_normal(a[0], a[2], at(a, 3, 0), std::exp(a[1])); }},
    {"Student", 2, 2, [](Arguments a) { return a[1] < 1 ? 0 : student(a[0], a[1]); }},
    {"tdistribution_pdf", 2, 3, [](Arguments a) { return student(a[0] - at(a, 2, 0), a[1]); }},
    {"Beta", 2, 2, [](Arguments a) { return beta(a[0], a[1]); }},
    {"BetaDist", 3, 3,
     [](Arguments a) { return beta_density(a[0], a[1], a[2]); }},
    {"beta_pdf", 3, 3, [](Arguments a) { return beta_density(a[0], a[1], a[2]); }},
    {"beta_cdf", 3, 3, [](Arguments a) { return beta_below(a[0], a[1], a[2]); }},
    {"beta", 2, 2, [](Arguments a) { return beta(a[0], a[1]); }},
    {"BetaDistI", 3, 3, [](Arguments a) { return beta_below(a[0], a[1], a[2]); }},
    {"BetaIncomplete", 3, 3, [](Arguments a) { return beta_below(a[0], a[1], a[2]); }},
    {"inc_beta", 3, 3, [](Arguments a) { return beta_below(a[0], a[1], a[2]); }},
    {"Prob", 2, 2, [](Arguments a) { return probability(a[0], a[1]); }},
    {"chisquared_cdf", 2, 3, [](Arguments a) { return 1 - chisquared_above(a[0] - at(a, 2, 0), a[1]); }},
    {"chisquared_cdf_c", 2, 3, [](Arguments a) { return chisquared_above(a[0] - at(a, 2, 0), a[1]); }},
    {"ChisquareQuantile", 2, 2,
     [](Arguments a) {
       if (!(a[0] >= 0 && a[0] < 1) || !(a[1] > 0)) return 0.0;
       return 2 * boost::math::gamma_p_inv(a[1] / 2, a[0], Quiet());
     }},
    {"inc_gamma", 2, 2, [](Arguments a) { return gamma_below(a[0], a[1]); }},
    {"inc_gamma_c", 2, 2, [](Arguments a) { return gamma_above(a[0], a[1]); }},
    {"Gamma", 2, 2, [](Arguments a) { return gamma_below(a[0], a[1]); }},
    {"gamma_cdf", 3, 4, [](Arguments a) { return gamma_below(a[1], (a[0] - at(a, 3, 0)) / a[2]); }},
    {"gamma_cdf_c", 3, 4, [](Arguments a) { return gamma_above(a[1], (a[0] - at(a, 3, 0)) / a[2]); }},
    {"poisson_cdf", 2, 2, [](Arguments a) { return a[0] < 0 ? 0 : gamma_above(std::floor(a[0]) + 1, a[1]); }},
    {"StudentI", 2, 2, [](Arguments a) { return student_below(a[0], a[1]); }},
    {"StudentQuantile", 2, 3, [](Arguments a) { return student_quantile(a[0], a[1], at(a, 2, 1) != 0); }},
    {"tdistribution_cdf", 2, 3, [](Arguments a) { return student_below(a[0] - at(a, 2, 0), a[1]); }},
    {"FDist", 3, 3, [](Arguments a) { return fisher_density(a[0], a[1], a[2]); }},
    {"fdistribution_pdf", 3, 4, [](Arguments a) { return fisher_density(a[0] - at(a, 3, 0), a[1], a[2]); }},
    {"FDistI", 3, 3,
     [](Arguments a) { return 1 - beta_below(a[2] / (a[2] + a[1] * a[0]), a[2] / 2, a[1] / 2); }},
    {"binomial_pdf", 3, 3, [](Arguments a) { return binomial_density(a[0], a[1], a[2]); }},
    {"binomial_cdf", 3, 3, [](Arguments a) { return binomial_below(a[0], a[1], a[2]); }},
    {"BinomialI", 3, 3, [](Arguments a) { return binomial_from(a[2], a[0], a[1]); }},
    {"negative_binomial_pdf", 3, 3, [](Arguments a) { return negative_binomial_density(a[0], a[1], a[2]); }},
    {"normal_cdf_c", 1, 3,
     [](Arguments a) { return std::erfc((a[0] - at(a, 2, 0)) / at(a, 1, 1) / std::numbers::sqrt2) / 2; }},
    {"NormQuantile", 1, 1,
     [](Arguments a) {
       if (std::isnan(a[0])) return a[0];
       return a[0] > 0 && a[0] < 1 ? -std::numbers::sqrt2 * boost::math::erfc_inv(2 * a[0], Quiet()) : 0;
     }},
    {"ErfInverse", 1, 1, [](Arguments a) { return std::abs(a[0]) < 1 ? boost::math::erf_inv(a[0], Quiet()) : 0; }},
    {"ErfcInverse", 1, 1,
     [](Arguments a) { return a[0] > 0 && a[0] < 2 ? boost::math::erfc_inv(a[0], Quiet()) : 0; }},
    {"exponential_cdf", 2, 3,
     [](Arguments a) { return a[0] < at(a, 2, 0) ? 0 : -std::expm1(-a[1] * (a[0] - at(a, 2, 0))); }},
    {"uniform_cdf", 3, 4,
     [](Arguments a) { return std::clamp((a[0] - at(a, 3, 0) - a[1]) / (a[2] - a[1]), 0.0, 1.0); }},
    {"lognormal_cdf", 3, 4,
     [](Arguments a) {
       const double x = a[0] - at(a, 3, 0);
       return std::erfc(-(std::log(x) - a[1]) / a[2] / std::numbers::sqrt2) / 2;
     }},
    {"cauchy_cdf", 2, 3, [](Arguments a) { return 0.5 + std::atan((a[0] - at(a, 2, 0)) / a[1]) / pi; }},
    {"breitwigner_cdf", 2, 3, [](Arguments a) { return 0.5 + std::atan(2 * (a[0] - at(a, 2, 0)) / a[1]) / pi; }},
    {"gaussian_cdf", 1, 3,
     [](Arguments a) { return std::erfc(-(a[0] - at(a, 2, 0)) / at(a, 1, 1) / std::numbers::sqrt2) / 2; }},
    {"gaussian_cdf_c", 1, 3,
     [](Arguments a) { return std::erfc((a[0] - at(a, 2, 0)) / at(a, 1, 1) / std::numbers::sqrt2) / 2; }},
    {"beta_cdf_c", 3, 3, [](Arguments a) { return beta_above(a[0], a[1], a[2]); }},
    {"cauchy_cdf_c", 2, 3, [](Arguments a) { return 0.5 - std::atan((a[0] - at(a, 2, 0)) / a[1]) / pi; }},
    {"breitwigner_cdf_c", 2, 3, [](Arguments a) { return 0.5 - std::atan(2 * (a[0] - at(a, 2, 0)) / a[1]) / pi; }},
    {"exponential_cdf_c", 2, 3,
     [](Arguments a) { return a[0] < at(a, 2, 0) ? 1 : std::exp(-a[1] * (a[0] - at(a, 2, 0))); }},
    {"fdistribution_cdf", 3, 4, [](Arguments a) { return fisher_part(a[0] - at(a, 3, 0), a[1], a[2], true); }},
    {"fdistribution_cdf_c", 3, 4, [](Arguments a) { return fisher_part(a[0] - at(a, 3, 0), a[1], a[2], false); }},
    {"lognormal_cdf_c", 3, 4, [](Arguments a) { return log_normal_above(a[0] - at(a, 3, 0), a[1], a[2]); }},
    {"tdistribution_cdf_c", 2, 3, [](Arguments a) { return student_above(a[0] - at(a, 2, 0), a[1]); }},
    {"uniform_cdf_c", 3, 4,
     [](Arguments a) { return std::clamp((a[2] + at(a, 3, 0) - a[0]) / (a[2] - a[1]), 0.0, 1.0); }},
    {"poisson_cdf_c", 2, 2, [](Arguments a) { return a[0] < 0 ? 1 : gamma_below(std::floor(a[0]) + 1, a[1]); }},
    {"binomial_cdf_c", 3, 3,
     [](Arguments a) { return a[0] < 0 ? 1 : a[0] >= a[2] ? 0 : beta_below(a[1], a[0] + 1, a[2] - a[0]); }},
    {"negative_binomial_cdf", 3, 3, [](Arguments a) { return negative_binomial_below(a[0], a[1], a[2]); }},
    {"negative_binomial_cdf_c", 3, 3, [](Arguments a) { return negative_binomial_above(a[0], a[1], a[2]); }},
    {"crystalball_integral", 4, 5, [](Arguments a) { return crystal_ball_from(a); }},
    {"crystalball_cdf", 4, 5, [](Arguments a) { return crystal_ball_part(a, true); }},
    {"crystalball_cdf_c", 4, 5, [](Arguments a) { return crystal_ball_part(a, false); }},
    {"normal_quantile", 2, 2, [](Arguments a) { return normal_inverse(a[0], a[1]); }},
    {"normal_quantile_c", 2, 2, [](Arguments a) { return -normal_inverse(a[0], a[1]); }},
    {"gaussian_quantile", 2, 2, [](Arguments a) { return normal_inverse(a[0], a[1]); }},
    {"gaussian_quantile_c", 2, 2, [](Arguments a) { return -normal_inverse(a[0], a[1]); }},
    {"lognormal_quantile", 3, 3, [](Arguments a) { return std::exp(a[1] + normal_inverse(a[0], a[2])); }},
    {"lognormal_quantile_c", 3, 3, [](Arguments a) { return std::exp(a[1] - normal_inverse(a[0], a[2])); }},
    {"cauchy_quantile", 2, 2, [](Arguments a) { return cauchy_quantile(a[0], a[1]); }},
    {"cauchy_quantile_c", 2, 2, [](Arguments a) { return cauchy_quantile_above(a[0], a[1]); }},
    {"breitwigner_quantile", 2, 2, [](Arguments a) { return cauchy_quantile(a[0], a[1] / 2); }},
    {"breitwigner_quantile_c", 2, 2, [](Arguments a) { return cauchy_quantile_above(a[0], a[1] / 2); }},
    {"exponential_quantile", 2, 2, [](Arguments a) { return -std::log1p(-a[0]) / a[1]; }},
    {"exponential_quantile_c", 2, 2, [](Arguments a) { return -std::log(a[0]) / a[1]; }},
    {"uniform_quantile", 3, 3, [](Arguments a) { return a[0] * a[2] + (1 - a[0]) * a[1]; }},
    {"uniform_quantile_c", 3, 3, [](Arguments a) { return a[0] * a[1] + (1 - a[0]) * a[2]; }},
    {"gamma_quantile", 3, 3, [](Arguments a) { return a[2] * gamma_quantile(a[0], a[1]); }},
    {"gamma_quantile_c", 3, 3, [](Arguments a) { return a[2] * gamma_quantile_above(a[0], a[1]); }},
    {"chisquared_quantile", 2, 2, [](Arguments a) { return 2 * gamma_quantile(a[0], a[1] / 2); }},
    {"chisquared_quantile_c", 2, 2, [](Arguments a) { return 2 * gamma_quantile_above(a[0], a[1] / 2); }},
    {"beta_quantile", 3, 3, [](Arguments a) { return beta_inverse(a[0], a[1], a[2]); }},
    {"beta_quantile_c", 3, 3, [](Arguments a) { return beta_inverse_above(a[0], a[1], a[2]); }},
    {"fdistribution_quantile", 3, 3, [](Arguments a) { return fisher_quantile(a[0], a[1], a[2], true); }},
    {"fdistribution_quantile_c", 3, 3, [](Arguments a) { return fisher_quantile(a[0], a[1], a[2], false); }},
    {"tdistribution_quantile", 2, 2, [](Arguments a) { return tdistribution_quantile(a[0], a[1], true); }},
    {"tdistribution_quantile_c", 2, 2, [](Arguments a) { return tdistribution_quantile(a[0], a[1], false); }},
    {"expint", 1, 1, [](Arguments a) { return boost::math::expint(a[0], Quiet()); }},
    {"KolmogorovProb", 1, 1, [](Arguments a) { return kolmogorov_above(a[0]); }},
    {"DiLog", 1, 1, [](Arguments a) { return dilogarithm(a[0]); }},
    {"Factorial", 1, 1,
     [](Arguments a) { return std::tgamma(std::max(0.0, as_integer(a[0], Arithmetic::integer)) + 1); }},
    {"Binomial", 2, 2, [](Arguments a) { return binomial(a[0], a[1]); }},
    {"fma", 3, 3, [](Arguments a) { return std::fma(a[0], a[1], a[2]); }},
    {"AreEqualAbs", 3, 3,
     [](Arguments a) { return are_same(a[0], a[1]) || std::abs(a[0] - a[1]) < a[2] ? 1.0 : 0.0; }},
    {"AreEqualRel", 3, 3,
     [](Arguments a) {
       const double apart = 0.5 * a[2] * (std::abs(a[0]) + std::abs(a[1]));
       return are_same(a[0], a[1]) || std::abs(a[0] - a[1]) <= apart ? 1.0 : 0.0;
     }},
    {"Range", 3, 3, [](Arguments a) { return a[2] < a[0] ? a[0] : a[2] > a[1] ? a[1] : a[2]; }},
    {"BetaCf", 3, 3, [](Arguments a) { return beta_fraction(a[0], a[1], a[2]); }},
    {"legendre", 2, 2, [](Arguments a) { return legendre(a[0], a[1]); }},
    {"BesselJ0", 1, 1, [](Arguments a) { return ::j0(a[0]); }},
    {"BesselJ1", 1, 1, [](Arguments a) { return ::j1(a[0]); }},
    {"BesselY0", 1, 1, [](Arguments a) { return a[0] > 0 ? ::y0(a[0]) : kNone; }},
    {"BesselY1", 1, 1, [](Arguments a) { return a[0] > 0 ? ::y1(a[0]) : kNone; }},
    {"BesselI0", 1, 1, [](Arguments a) { return bessel_i0(a[0]); }},
    {"BesselI1", 1, 1, [](Arguments a) { return bessel_i1(a[0]); }},
    {"BesselI", 2, 2, [](Arguments a) { return bessel_i(a[0], a[1]); }},
    {"StruveH0", 1, 1, [](Arguments a) { return struve_h(0, a[0]); }},
    {"StruveH1", 1, 1, [](Arguments a) { return struve_h(1, a[0]); }},
    {"StruveL0", 1, 1, [](Arguments a) { return struve_l(0, a[0]); }},
    {"StruveL1", 1, 1, [](Arguments a) { return struve_l(1, a[0]); }},
    {"BesselK0", 1, 1, [](Arguments a) { return bessel_k0(a[0]); }},
    {"BesselK1", 1, 1, [](Arguments a) { return bessel_k1(a[0]); }},
    {"BesselK", 2, 2, [](Arguments a) { return bessel_k(a[0], a[1]); }},
    {"Chebyshev0", 2, 2, [](Arguments a) { return a[1]; }},
    {"Chebyshev1", 3, 3, chebyshev<1>},
    {"Chebyshev2", 4, 4, chebyshev<2>},
    {"Chebyshev3", 5, 5, chebyshev<3>},
    {"Chebyshev4", 6, 6, chebyshev<4>},
    {"Chebyshev5", 7, 7, chebyshev<5>},
    {"Chebyshev6", 8, 8, chebyshev<6>},
    {"Chebyshev7", 9, 9, chebyshev<7>},
    {"Chebyshev8", 10, 10, chebyshev<8>},
    {"Chebyshev9", 11, 11, chebyshev<9>},
    {"Chebyshev10", 12, 12, chebyshev<10>}};

}  // namespace

std::span<const SpecialFunction> special_functions() { return kFunctions; }

}  // namespace tfile
