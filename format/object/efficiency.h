// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "object/binomial_interval.h"
#include "object/object_arrays.h"

namespace tfile {

// The counts of a TEfficiency, and how its errors are made.
struct EfficiencyCells {
  HistogramBins bins;
  std::vector<double> passed, total;  // including flow bins
  BinomialMethod method = BinomialMethod::clopper_pearson;
  double level = 0.682689492137;

  double value(std::uint64_t cell) const { return total[cell] > 0 ? passed[cell] / total[cell] : 0; }
  Interval interval(std::uint64_t cell, Effort& effort) const {
    if (!effort.spend(1)) return {};
    return binomial_interval(passed[cell], total[cell], level, method, effort);
  }
};

// Errors: damaged, unsupported (too many bins).
Result<EfficiencyCells> efficiency_cells(const ObjectMembers&, std::size_t dimensions);

// 0: it has no histogram.
std::size_t efficiency_dimensions(const StreamerInfos&, const ObjectMembers&);

}  // namespace tfile
