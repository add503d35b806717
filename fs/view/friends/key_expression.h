// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reply.h"

namespace tfilefs {

// A part of a key that is computed from columns, as a TTreeIndex may be by "10000*run+event": numbers, names of
// columns, parentheses, and the operators of TTreeFormula, which computes in long double. It is compiled once into
// steps for a stack of numbers. Pure.
class KeyExpression {
 public:
  // Errors: unsupported (a function, an element of an array, too long or nested, what is no expression).
  static Result<KeyExpression> parse(std::string_view text);

  // The columns that it takes, each once.
  const std::vector<std::string>& names() const { return names_; }

  // `inputs`: a value for each name.
  long double value(std::span<const long double> inputs) const;

 private:
  class Parser;
  enum class Step : std::uint8_t {
    number,
    input,
    negate,
    no,
    power,
    multiply,
    divide,
    remainder,
    add,
    subtract,
    shift_left,
    shift_right,
    less,
    greater,
    less_equal,
    greater_equal,
    equal,
    unequal,
    bits_and,
    bits_or,
    both,
    either,
  };
  struct Op {
    Step step = Step::number;
    long double number = 0;
    std::size_t input = 0;
  };
  static long double computed(Step, long double, long double);

  std::vector<Op> ops_;
  std::vector<std::string> names_;
};

}  // namespace tfilefs
