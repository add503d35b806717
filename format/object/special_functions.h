// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tfile {

// A function of TMath or ROOT::Math that is more than one of C's, by its name without these. Never throws; not a number
// where it is not defined; a few hundred operations at most.
struct SpecialFunction {
  std::string_view name;
  std::size_t least, most;  // arguments; those that are left out are the function's own
  double (*call)(std::span<const double> arguments);
};
std::span<const SpecialFunction> special_functions();

}  // namespace tfile
