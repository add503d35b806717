// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tfile/effort.h"

namespace tfile {

struct Interval {
  double low = 0, high = 1;
};

enum class BinomialMethod { clopper_pearson, normal, wilson, agresti_coull };

// The interval of confidence `level` (0.683) for an efficiency with `passed` of `total` trials; weighted trials may be
// fractions. Without trials it is [0, 1]. If the effort is used up, the result is meaningless.
Interval binomial_interval(double passed, double total, double level, BinomialMethod, Effort&);

}  // namespace tfile
