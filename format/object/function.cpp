// SPDX-License-Identifier: Apache-2.0
#include "object/function.h"

#include <algorithm>
#include <cmath>

#include "object/formula.h"

namespace tfile {
namespace {

// fNpx is 100 unless somebody wanted more; more points than a screen has show nothing.
constexpr std::int64_t kPointsMax = 10'000;

// fSave holds the values at fNpx + 1 places, then the range.
std::optional<PlotPoints> saved_points(const ObjectMembers& members) {
  const std::vector<double> saved = members.doubles("fSave");
  if (saved.size() < 5) return std::nullopt;
  const std::size_t n = saved.size() - 2;
  const double low = saved[n], high = saved[n + 1];
  if (!(low < high)) return std::nullopt;
  PlotPoints curve;
  // Some versions keep another number behind the values, for which they have no place either.
  const std::size_t count = n - 1;
  for (std::size_t i = 0; i < count; ++i) {
    curve.xs.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(count - 1));
    curve.ys.push_back(saved[i]);
  }
  return curve;
}

struct FormulaOf {
  std::string text;
  std::vector<double> parameters;
  std::vector<std::string> names;
};

// Since ROOT 6 a TF1 holds a TFormula, before it was one.
FormulaOf formula_of(const ObjectMembers& members) {
  FormulaOf f;
  for (const char* path : {"fFormula.fFormula", "fFormula.fTitle", "fTitle"}) {
    f.text = members.text(path);
    if (!f.text.empty()) break;
  }
  for (const char* path : {"fFormula.fClingParameters", "fParams.fParameters", "fParams"}) {
    f.parameters = members.doubles(path);
    if (!f.parameters.empty()) break;
  }
  // A formula has them by name, and which number each name stands for: not the order in which they are met.
  constexpr std::size_t kNamesMax = 1'000;
  const std::size_t count = std::min(members.item_count("fFormula.fParams"), kNamesMax);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string pair = "fFormula.fParams." + std::to_string(i);
    const std::int64_t number = members.integer(pair + ".second", -1);
    if (number < 0 || number >= static_cast<std::int64_t>(kNamesMax)) continue;
    if (f.names.size() <= static_cast<std::size_t>(number)) f.names.resize(static_cast<std::size_t>(number) + 1);
    f.names[static_cast<std::size_t>(number)] = members.text(pair + ".first");
  }
  return f;
}

}  // namespace

bool has_samples(const ObjectMembers& members, std::size_t variables) {
  if (variables == 1 && saved_points(members)) return true;
  const FormulaOf f = formula_of(members);
  return Formula::parse(f.text, variables, f.names).has_value();
}

Result<PlotPoints> sampled_function(const ObjectMembers& members, Effort& effort) {
  std::optional<PlotPoints> curve = saved_points(members);
  if (!curve) {
    const FormulaOf f = formula_of(members);
    TRY(const Formula formula, Formula::parse(f.text, 1, f.names));
    const double low = members.number("fXmin").value_or(0), high = members.number("fXmax").value_or(1);
    const std::int64_t count = std::clamp<std::int64_t>(members.integer("fNpx", 100), 2, kPointsMax) + 1;
    const std::uint64_t steps = formula.steps();
    curve.emplace();
    for (std::int64_t i = 0; i < count; ++i) {
      if (!effort.spend(steps)) return tl::unexpected(effort.check().error());
      const double x = low + (high - low) * static_cast<double>(i) / static_cast<double>(count - 1);
      curve->xs.push_back(x);
      curve->ys.push_back(formula.value(x, f.parameters));
    }
  }
  curve->is_line = true;
  curve->has_marks = false;
  curve->x.title = members.text("fHistogram.fXaxis.fTitle");
  curve->y.title = members.text("fHistogram.fYaxis.fTitle");
  return *std::move(curve);
}

Result<PlotBins> sampled_surface(const ObjectMembers& members, Effort& effort) {
  constexpr std::int64_t kCellsMax = 500;  // a side; 30 unless somebody wanted more
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
