// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tfile {

// A function of TMath or ROOT::Math that C does not have, by its name without the namespace. Never throws; gives NaN
// outside its domain; takes at most a few hundred operations.
struct SpecialFunction {
  std::string_view name;
  std::size_t least, most;  // number of arguments; omitted ones have default values
  double (*call)(std::span<const double> arguments);
};
std::span<const SpecialFunction> special_functions();

}  // namespace tfile
