// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reply.h"
#include "tfile/expression.h"

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
  // Takes a number or the value of a name, or operates on the last ones.
  struct Op {
    enum class Step : std::uint8_t { number, input, operation };
    Step step = Step::number;
    tfile::Operator op = {};
    long double number = 0;
    std::size_t input = 0;
  };
  bool add(const tfile::ExpressionNode&);  // false: no number

  std::vector<Op> ops_;
  std::vector<std::string> names_;
};

}  // namespace tfilefs
