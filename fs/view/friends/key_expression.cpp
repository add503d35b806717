// SPDX-License-Identifier: Apache-2.0
#include "view/friends/key_expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>

namespace tfilefs {

using tfile::ExpressionNode;
using tfile::Operator;

namespace {

// Longer and deeper than anyone writes.
constexpr std::size_t kTextMax = 1000;
constexpr tfile::ExpressionForm kKeyForm{100, kTextMax, true};

// For operators of bits: fractions are cut; NaN is the smallest number, and what is beyond the type is its end.
std::int64_t as_bits(long double number) {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr long double kBeyond = 9223372036854775808.0L;  // 2^63
  if (std::isnan(number) || number < -kBeyond) return Limits::min();
  return number >= kBeyond ? Limits::max() : static_cast<std::int64_t>(number);
}

// For the least number, -1 is no divisor in C++.
std::int64_t remainder_of(std::int64_t a, std::int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

std::int64_t shifted(std::int64_t a, std::int64_t by, bool to_the_left) {
  if (by < 0 || by > 63) return 0;
  return to_the_left ? static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << by) : a >> by;
}

// As TTreeFormula computes: without integers, except where an operator is one of bits.
long double computed(Operator op, long double a, long double b) {
  switch (op) {
    case Operator::power:
      return std::pow(a, b);
    case Operator::multiply:
      return a * b;
    case Operator::divide:
      return b == 0 ? 0 : a / b;
    case Operator::remainder:
      return static_cast<long double>(remainder_of(as_bits(a), as_bits(b)));
    case Operator::add:
      return a + b;
    case Operator::subtract:
      return a - b;
    case Operator::shift_left:
    case Operator::shift_right:
      return static_cast<long double>(shifted(as_bits(a), as_bits(b), op == Operator::shift_left));
    case Operator::less:
      return a < b;
    case Operator::greater:
      return a > b;
    case Operator::less_equal:
      return a <= b;
    case Operator::greater_equal:
      return a >= b;
    case Operator::equal:
      return a == b;
    case Operator::unequal:
      return a != b;
    case Operator::bits_and:
      return static_cast<long double>(as_bits(a) & as_bits(b));
    case Operator::bits_or:
      return static_cast<long double>(as_bits(a) | as_bits(b));
    case Operator::both:
      return a != 0 && b != 0;
    default:
      return a != 0 || b != 0;
  }
}

// Keys have of the notation numbers and names, the signs - and !, and ^ alone as power.
bool is_of_keys(const ExpressionNode& node) {
  constexpr Operator kOthers[] = {Operator::plus, Operator::bits_not, Operator::choose};
  if (node.kind == ExpressionNode::Kind::operation)
    return std::ranges::find(kOthers, node.op) == std::end(kOthers) && node.text != "**";
  return node.kind == ExpressionNode::Kind::number ||
         (node.kind == ExpressionNode::Kind::name && node.text.find_first_of("@$") == std::string_view::npos &&
          node.text[0] != ':');
}

}  // namespace

bool KeyExpression::add(const ExpressionNode& node) {
  Op made;
  if (node.kind == ExpressionNode::Kind::operation) {
    made.step = Op::Step::operation;
    made.op = node.op;
  } else if (node.kind == ExpressionNode::Kind::name) {
    const auto known = std::ranges::find(names_, node.text);
    made.step = Op::Step::input;
    made.input = static_cast<std::size_t>(known - names_.begin());
    if (known == names_.end()) names_.emplace_back(node.text);
  } else {
    const std::string digits(node.text);  // strtold wants its end
    char* end = nullptr;
    made.number = std::strtold(digits.c_str(), &end);
    if (end != digits.c_str() + digits.size()) return false;
  }
  ops_.push_back(made);
  return true;
}

Result<KeyExpression> KeyExpression::parse(std::string_view text) {
  const auto refused = [&](const std::string& why) {
    return tfile::fail(ErrorKind::unsupported,
                       "\"" + std::string(text) + "\" is not an expression of columns (" + why + ")");
  };
  if (text.size() > kTextMax) return refused("it is too long");
  const auto nodes = tfile::parse_expression(text, kKeyForm);
  if (!nodes) return refused(nodes.error().text);
  KeyExpression made;
  for (const ExpressionNode& node : *nodes) {
    if (!is_of_keys(node) || !made.add(node))
      return refused("byte " + std::to_string(node.at + 1) + ", " + std::string(node.text) + ": not allowed in a key");
  }
  return made;
}

long double KeyExpression::value(std::span<const long double> inputs) const {
  std::array<long double, kTextMax> stack;  // more than there are numbers in the text
  std::size_t height = 0;
  for (const Op& op : ops_) {
    if (op.step != Op::Step::operation) {
      stack[height++] = op.step == Op::Step::number ? op.number : inputs[op.input];
    } else if (op.op == Operator::negate) {
      stack[height - 1] = -stack[height - 1];
    } else if (op.op == Operator::no) {
      stack[height - 1] = stack[height - 1] == 0;
    } else {
      --height;
      stack[height - 1] = computed(op.op, stack[height - 1], stack[height]);
    }
  }
  return stack[0];
}

}  // namespace tfilefs
