// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tfile/expression.h"
#include "tfile/formula_functions.h"
#include "tfile/result.h"

namespace tfile {

// A formula of one or two variables in TFormula's notation: "[0]*exp(-0.5*((x-[1])/[2])^2)", "gaus(0)+pol1(3)",
// "[p0]*sin(x)", "x>2 ? 1 : 0". It is C++ with ^ as power and with predefined shapes, and gives the results of ROOT's
// compiled formula. It is compiled once into steps for a stack of numbers.
class Formula {
 public:
  // Errors: unsupported (an unknown name, C++ beyond expressions, too much nesting). `names`: of the parameters, by
  // number. Other parameters are numbered in the order of their first use.
  static Result<Formula> parse(std::string_view text, std::size_t variables = 1, std::vector<std::string> names = {});

  enum class Step : std::uint8_t { constant, variable, parameter, operation, call1, call2, call_special, shape };
  struct Op {
    Step step = Step::constant;
    Operator op = Operator::plus;            // of an operation
    Arithmetic kind = Arithmetic::floating;  // the kind of the numbers that it computes with
    double number = 0;
    std::uint32_t index = 0;  // of the variable, the parameter or the function; of the first parameter of a shape
    std::uint32_t extra = 0;  // of a shape: its kind and degree; of a special function: the number of arguments
  };
  static constexpr std::uint32_t kShapeBits = 8;  // of Op::extra; the degree is above them

  // Each step must find as many numbers as it takes, and one number must remain at the end.
  explicit Formula(std::vector<Op> ops) : ops_(std::move(ops)) {}

  // Missing parameters are 0. NaN if the result is undefined in C++ (1/0 of integers).
  double value(double x, std::span<const double> parameters) const { return value(x, 0, parameters); }
  double value(double x, double y, std::span<const double> parameters) const;

  // The steps that one value takes (tfile/effort.h).
  std::uint64_t steps() const;

 private:
  std::vector<Op> ops_;
};

}  // namespace tfile
