// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tfile {

// The modified Bessel functions, to 1e-7 as TMath has them. K of numbers that are not positive is NaN.
double bessel_i0(double x);
double bessel_i1(double x);
double bessel_k0(double x);
double bessel_k1(double x);
// The order is an integer: what is behind the point is dropped. For a negative one 0.
double bessel_i(double order, double x);
double bessel_k(double order, double x);

// Struve's functions of order 0 or 1, and the modified ones, to some units of the last digit.
double struve_h(int order, double x);
double struve_l(int order, double x);

}  // namespace tfile
