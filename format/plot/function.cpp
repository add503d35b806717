// SPDX-License-Identifier: Apache-2.0
#include "plot/function.h"

#include <algorithm>
#include <cmath>

#include "object/object_plots.h"
#include "plot/formula.h"
#include "plot/stored_function.h"

namespace tfile {
namespace {

// fNpx is 100 by default. More points than a screen has are useless.
constexpr std::int64_t kPointsMax = 10'000;

// fSave has the values at fNpx + 1 places, then the range.
std::optional<PlotPoints> saved_points(const ObjectMembers& members) {
  const std::vector<double> saved = members.doubles("fSave");
  if (saved.size() < 5) return std::nullopt;
  const std::size_t n = saved.size() - 2;
  const double low = saved[n], high = saved[n + 1];
  if (!(low < high)) return std::nullopt;
  PlotPoints curve;
  for (std::size_t i = 0; i < n; ++i) {
    curve.xs.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(n - 1));
    curve.ys.push_back(saved[i]);
  }
  return curve;
}

}  // namespace

Result<> check_samples(const ObjectMembers& members, std::size_t variables) {
  if (variables == 1) {
    if (!saved_points(members)) TRY_VOID(stored_function(members));
    return {};
  }
  const FormulaOf f = formula_of(members);
  TRY_VOID(Formula::parse(f.text, variables, f.names));
  return {};
}

Result<PlotPoints> sampled_function(const ObjectMembers& members, Effort& effort) {
  std::optional<PlotPoints> curve = saved_points(members);
  if (!curve) {
    TRY(const auto function, stored_function(members));
    const double low = members.number("fXmin").value_or(0), high = members.number("fXmax").value_or(1);
    const std::int64_t count = std::clamp<std::int64_t>(members.integer("fNpx", 100), 2, kPointsMax) + 1;
    curve.emplace();
    for (std::int64_t i = 0; i < count; ++i) {
      const double x = low + (high - low) * static_cast<double>(i) / static_cast<double>(count - 1);
      curve->xs.push_back(x);
      curve->ys.push_back(function->value(x, effort));
      TRY_VOID(effort.check());
    }
  }
  curve->is_line = true;
  curve->has_marks = false;
  curve->x.title = members.text("fHistogram.fXaxis.fTitle");
  curve->y.title = members.text("fHistogram.fYaxis.fTitle");
  return *std::move(curve);
}

Result<PlotBins> sampled_surface(const ObjectMembers& members, Effort& effort) {
  constexpr std::int64_t kCellsMax = 500;  // per side; the default is 30
  const FormulaOf f = formula_of(members);
  TRY(const Formula formula, Formula::parse(f.text, 2, f.names));
  PlotBins map;
  map.dimensions = 2;
  const auto edges = [&](const char* count, const char* low, const char* high) {
    const auto n = static_cast<std::size_t>(std::clamp<std::int64_t>(members.integer(count, 30), 2, kCellsMax));
    const double from = members.number(low).value_or(0), to = members.number(high).value_or(1);
    std::vector<double> all(n + 1);
    for (std::size_t i = 0; i <= n; ++i) all[i] = from + (to - from) * static_cast<double>(i) / static_cast<double>(n);
    return all;
  };
  map.x.edges = edges("fNpx", "fXmin", "fXmax");
  map.y.edges = edges("fNpy", "fYmin", "fYmax");
  const std::uint64_t steps = formula.steps();
  for (std::size_t i = 0; i + 1 < map.x.edges.size(); ++i)
    for (std::size_t j = 0; j + 1 < map.y.edges.size(); ++j) {
      if (!effort.spend(steps)) return tl::unexpected(effort.check().error());
      map.values.push_back(formula.value((map.x.edges[i] + map.x.edges[i + 1]) / 2,
                                         (map.y.edges[j] + map.y.edges[j + 1]) / 2, f.parameters));
    }
  map.x.title = members.text("fHistogram.fXaxis.fTitle");
  map.y.title = members.text("fHistogram.fYaxis.fTitle");
  return map;
}

}  // namespace tfile
