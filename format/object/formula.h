// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/result.h"

namespace tfile {

// A formula of one or two variables as TFormula writes it: "[0]*exp(-0.5*((x-[1])/[2])^2)", "gaus(0)+pol1(3)",
// "[p0]*sin(x)", "x>2 ? 1 : 0". Compiled once to a list of steps for a stack of numbers.
class Formula {
 public:
  // Errors: unsupported (a name that is not known, C++ beyond expressions, nesting without end).
  // `names`: of the parameters, by number; others count in the order in which they are met.
  static Result<Formula> parse(std::string_view text, std::size_t variables = 1, std::vector<std::string> names = {});

  // Parameters that are missing are 0.
  double value(double x, std::span<const double> parameters) const { return value(x, 0, parameters); }
  double value(double x, double y, std::span<const double> parameters) const;

  // What one value takes (tfile/effort.h).
  std::uint64_t steps() const;

 private:
  friend class FormulaParser;
  enum class Step : std::uint8_t {
    constant,
    variable,
    parameter,
    negate,
    add,
    subtract,
    multiply,
    divide,
    power,
    remainder,
    less,
    greater,
    less_equal,
    greater_equal,
    equal,
    unequal,
    both,
    either,
    no,
    choose,
    call1,
    call2,
    call_special,
    shape
  };
  struct Op {
    Step step = Step::constant;
    double number = 0;
    std::uint32_t index = 0;  // of the variable, the parameter, the function; of the first parameter of a shape
    std::uint32_t extra = 0;  // of a shape: its degree; of a special function: its arguments
  };
  std::vector<Op> ops_;
};

}  // namespace tfile
