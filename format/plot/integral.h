// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "tfile/effort.h"

namespace tfile {

// The integral of a function from `low` to `high` (both finite), by the Gauss-Kronrod rule with 7 and 15 points.
// Intervals on which the two results differ are halved. Once the effort is used up, it returns early with a meaningless
// result.
template <class Function>
class GaussKronrod {
 public:
  GaussKronrod(Function& function, Effort& effort) : function_(function), effort_(effort) {}

  double over(double low, double high) {
    // A peak must not fall between the points of the first evaluation.
    constexpr int kPieces = 16;
    const double width = (high - low) / kPieces;
    std::array<Estimate, kPieces> pieces;
    double size = 0;
    for (int i = 0; i < kPieces; ++i) {
      pieces[static_cast<std::size_t>(i)] = estimate(low + width * i, low + width * (i + 1));
      size += std::abs(pieces[static_cast<std::size_t>(i)].value);
    }
    double sum = 0;
    for (int i = 0; i < kPieces; ++i)
      sum += refined(low + width * i, low + width * (i + 1), pieces[static_cast<std::size_t>(i)], size * kAccuracy, 0);
    return sum;
  }

 private:
  struct Estimate {
    double value = 0, error = 0;
  };
  static constexpr double kAccuracy = 1e-9;
  static constexpr int kDepthMax = 20;

  Estimate estimate(double low, double high) {
    static constexpr std::array<double, 8> kPlaces = {
        0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
        0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
        0.586087235467691130294144691925684, 0.405845151377397166906606412076961,
        0.207784955007898467600689403773245, 0};
    static constexpr std::array<double, 8> kKronrod = {
        0.022935322010529224963732008058970, 0.063092092629978553290700663189204, 0.104790010322250183839876322541518,
        0.140653259715525918745189590510238, 0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
        0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
    static constexpr std::array<double, 4> kGauss = {
        0.129484966168869693270611432679082, 0.279705391489276667901467771423780, 0.381830050505118944950369775488975,
        0.417959183673469387755102040816327};
    const double middle = (low + high) / 2, half = (high - low) / 2;
    double kronrod = 0, gauss = 0;
    for (std::size_t i = 0; i < kPlaces.size(); ++i) {
      const bool is_middle = i + 1 == kPlaces.size();
      const double sum =
          is_middle ? function_(middle) : function_(middle - half * kPlaces[i]) + function_(middle + half * kPlaces[i]);
      kronrod += kKronrod[i] * sum;
      if (i % 2 == 1) gauss += kGauss[i / 2] * sum;
    }
    return {kronrod * half, std::abs(kronrod - gauss) * std::abs(half)};
  }

  double refined(double low, double high, const Estimate& whole, double error, int depth) {
    if (!(whole.error > error) || depth >= kDepthMax || !effort_.spend(1)) return whole.value;
    const double middle = (low + high) / 2;
    const Estimate left = estimate(low, middle), right = estimate(middle, high);
    return refined(low, middle, left, error / 2, depth + 1) + refined(middle, high, right, error / 2, depth + 1);
  }

  Function& function_;
  Effort& effort_;
};

template <class Function>
double integral(Function function, double low, double high, Effort& effort) {
  return GaussKronrod<Function>(function, effort).over(low, high);
}

}  // namespace tfile
