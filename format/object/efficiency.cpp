// SPDX-License-Identifier: Apache-2.0
#include "object/efficiency.h"

#include <string>

#include "object/histogram.h"

namespace tfile {

Result<EfficiencyCells> efficiency_cells(const ObjectMembers& members, std::size_t dimensions) {
  EfficiencyCells cells;
  TRY(cells.bins, small_bins(members, "fTotalHistogram.", dimensions));
  cells.passed = members.doubles("fPassedHistogram.fArray");
  cells.total = members.doubles("fTotalHistogram.fArray");
  if (cells.passed.size() != cells.total.size())
    return fail(ErrorKind::damaged, "efficiency: " + std::to_string(cells.passed.size()) + " bins of passed events, " +
                                        std::to_string(cells.total.size()) + " of all");
  cells.level = members.number("fConfLevel").value_or(cells.level);
  // TEfficiency::EStatOption; the Bayesian options are drawn as the first one.
  switch (members.integer("fStatisticOption", 0)) {
    case 1:
      cells.method = BinomialMethod::normal;
      break;
    case 2:
      cells.method = BinomialMethod::wilson;
      break;
    case 3:
      cells.method = BinomialMethod::agresti_coull;
      break;
    default:
      break;
  }
  return cells;
}

std::size_t efficiency_dimensions(const StreamerInfos& infos, const ObjectMembers& members) {
  return kind_of_object(infos, members.class_name("fTotalHistogram")).dimensions;
}

}  // namespace tfile
