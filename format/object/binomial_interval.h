// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tfile/effort.h"

namespace tfile {

struct Interval {
  double low = 0, high = 1;
};

enum class BinomialMethod { clopper_pearson, normal, wilson, agresti_coull };

// The interval of confidence `level` (0.683) for an efficiency of which `passed` of `total` trials were seen; weighted
// trials may be fractions. Without trials: all of [0, 1]. Where the effort is used up it is anything.
Interval binomial_interval(double passed, double total, double level, BinomialMethod, Effort&);

}  // namespace tfile
