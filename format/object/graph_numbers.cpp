// SPDX-License-Identifier: Apache-2.0
#include "object/graph_numbers.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace tfile {
namespace {

// All errors of y on one side, each with `n` numbers.
std::vector<std::vector<double>> multiple_errors(const ObjectMembers& members, const std::string& name, std::size_t n) {
  std::vector<std::vector<double>> all;
  for (std::size_t i = 0; i < std::min(members.item_count(name), kErrorsMax); ++i) {
    std::vector<double> values = members.doubles(name + "." + std::to_string(i));
    values.resize(n);
    all.push_back(std::move(values));
  }
  return all;
}

// Combines errors as TGraphMultiErrors::GetErrorYlow does by fSumErrorsMode: the first; the root of the sum of squares;
// the sum.
std::vector<double> together(const std::vector<std::vector<double>>& all, std::int64_t mode) {
  std::vector<double> sum = all.empty() ? std::vector<double>() : all[0];
  for (std::size_t i = 0; i < sum.size() && mode != 0; ++i) {
    double total = 0;
    for (const auto& errors : all) total += mode == 1 ? errors[i] * errors[i] : std::abs(errors[i]);
    sum[i] = mode == 1 ? std::sqrt(total) : total;
  }
  return sum;
}

}  // namespace

GraphNumbers graph_numbers(const ObjectMembers& members) {
  GraphNumbers g;
  g.x = members.doubles("fX");
  g.y = members.doubles("fY");
  const std::size_t n = std::min(g.x.size(), g.y.size());
  g.x.resize(n);
  g.y.resize(n);
  const auto errors = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      std::vector<double> values = members.doubles(name);
      if (n > 0 && values.size() >= n) {
        values.resize(n);
        return values;
      }
    }
    return std::vector<double>();
  };
  g.x_low = errors({"fEX", "fEXlow", "fExL"});
  g.x_high = errors({"fEX", "fEXhigh", "fExH"});
  g.y_low = errors({"fEY", "fEYlow"});
  g.y_high = errors({"fEY", "fEYhigh"});
  g.each_low = multiple_errors(members, "fEyL", n);
  g.each_high = multiple_errors(members, "fEyH", n);
  const std::int64_t mode = members.integer("fSumErrorsMode", 0);
  if (!g.each_low.empty()) g.y_low = together(g.each_low, mode);
  if (!g.each_high.empty()) g.y_high = together(g.each_high, mode);
  return g;
}

}  // namespace tfile
