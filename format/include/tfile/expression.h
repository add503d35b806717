// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/result.h"

namespace tfile {

// Not installed.

// Those of C++, and TFormula's power.
enum class Operator : std::uint8_t {
  plus,  // this and the next three take one operand
  negate,
  no,
  bits_not,
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
  choose  // condition ? one : other
};

// A part of an expression. What names, numbers, calls and indices mean is for what evaluates it.
struct ExpressionNode {
  enum class Kind : std::uint8_t {
    number,     // 1, 017, 0x1f, 1e-3: whatever begins as a number does
    name,       // x, TMath::Pi, muons.pt, Entry$, @muons, `a b`.pt
    parameter,  // [0], [Mean]: its text is what stands between the brackets
    operation,  // takes as many operands as `op` does
    call,       // sin(x), Sum$(x), @muons.size(): its text is the name, its operands are the arguments
    index,      // x[1][i]: its text is the name, its operands are the indices
    each,       // in an index: nothing between the brackets
    member,     // muons[0].p4.pt: its text is .p4.pt
    text        // "single": its text is what stands between the quotes, as it is written
  };
  Kind kind = Kind::number;
  Operator op = Operator::plus;
  bool in_parentheses = false;
  std::uint32_t operands = 0;  // one more for a call or an index whose text begins with a dot: what it belongs to
  std::uint32_t size = 1;      // how many nodes it and what is below it are
  std::size_t at = 0;          // where its text is
  std::string_view text;       // of the text that was parsed; of an operation its operator
};

// The differences between notations of expressions, and how far one may go.
struct ExpressionForm {
  std::size_t nesting_max;  // signs, powers and choices count once, parentheses, arguments and indices twice
  std::size_t nodes_max;
  bool colons_in_names = false;  // a:b is a name, as a::b is
  bool has_texts = false;        // "single" is a text
  bool has_quotes = false;       // `a b` is a name, or a part of one; of a back-tick in it there are two
};

// The name that a text stands for: without its back-ticks.
std::string unquoted_name(std::string_view written);
// The text that stands for a name: with back-ticks around it, if it is no name without them.
std::string quoted_name(std::string_view name);

// The nodes of an expression in C++'s notation with ^ and ** as power, in the order in which a stack computes them:
// operands from left to right, then what takes them; the last node is the whole. Spaces may stand between its parts.
// Errors: unsupported (what stands at which byte, counted from 1, and is no part of an expression; too much of it).
// Its `offset` is where in the text.
Result<std::vector<ExpressionNode>> parse_expression(std::string_view text, const ExpressionForm& form);
// The same of several with colons between them, as TTree::Draw takes them: "y:x". Each counts from the start of the
// text.
Result<std::vector<std::vector<ExpressionNode>>> parse_expressions(std::string_view text, const ExpressionForm& form);

}  // namespace tfile
