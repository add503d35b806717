// SPDX-License-Identifier: Apache-2.0
#include "plot/formula.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "tfile/formula_functions.h"

namespace tfile {
namespace {

using Step = Formula::Step;
using Op = Formula::Op;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// Integers are kept on the stack as doubles: an int exactly, a long rounded if it is above 2^53. Both wrap as on a
// processor.
// Nothing where it is undefined.
std::optional<std::uint64_t> of_words(Operator op, std::int64_t a, std::int64_t b, int bits) {
  const auto left = static_cast<std::uint64_t>(a), right = static_cast<std::uint64_t>(b);
  const bool is_shift = op == Operator::shift_left || op == Operator::shift_right;
  if (is_shift && (b < 0 || b >= bits)) return std::nullopt;
  if ((op == Operator::divide || op == Operator::remainder) && b == 0) return std::nullopt;
  switch (op) {
    case Operator::add:
      return left + right;
    case Operator::subtract:
      return left - right;
    case Operator::multiply:
      return left * right;
    case Operator::divide:
      return b == -1 ? 0 - left : static_cast<std::uint64_t>(a / b);
    case Operator::remainder:
      return b == -1 ? 0 : static_cast<std::uint64_t>(a % b);
    case Operator::shift_left:
      return left << right;
    case Operator::shift_right:
      return static_cast<std::uint64_t>(a >> b);
    case Operator::bits_and:
      return left & right;
    case Operator::bits_or:
      return left | right;
    default:
      return std::nullopt;
  }
}

double of_integers(Operator op, double left, double right, Arithmetic kind) {
  if (!std::isfinite(left) || !std::isfinite(right)) return kUndefined;
  const auto exact = [](double v) { return static_cast<std::int64_t>(as_integer(v, Arithmetic::long_integer)); };
  const bool is_int = kind == Arithmetic::integer;
  const auto value = of_words(op, exact(left), exact(right), is_int ? 32 : 64);
  if (!value) return kUndefined;
  return is_int ? static_cast<double>(static_cast<std::int32_t>(*value))
                : static_cast<double>(static_cast<std::int64_t>(*value));
}

double of_floating(Operator op, double left, double right) {
  switch (op) {
    case Operator::add:
      return left + right;
    case Operator::subtract:
      return left - right;
    case Operator::multiply:
      return left * right;
    case Operator::divide:
      return left / right;
    case Operator::remainder:
      return std::fmod(left, right);
    default:
      return kUndefined;
  }
}

double of_two(const Op& op, double left, double right) {
  switch (op.op) {
    case Operator::power:
      return std::pow(left, right);
    case Operator::less:
      return left < right;
    case Operator::greater:
      return left > right;
    case Operator::less_equal:
      return left <= right;
    case Operator::greater_equal:
      return left >= right;
    case Operator::equal:
      return left == right;
    case Operator::unequal:
      return left != right;
    case Operator::both:
      return left != 0 && right != 0;
    case Operator::either:
      return left != 0 || right != 0;
    default:
      return op.kind == Arithmetic::floating ? of_floating(op.op, left, right)
                                             : of_integers(op.op, left, right, op.kind);
  }
}

double popped(std::vector<double>& stack) {
  const double top = stack.back();
  stack.pop_back();
  return top;
}

void operate(const Op& op, std::vector<double>& stack) {
  switch (op.op) {
    case Operator::negate:
      stack.back() =
          op.kind == Arithmetic::floating ? -stack.back() : of_integers(Operator::subtract, 0, stack.back(), op.kind);
      return;
    case Operator::bits_not:
      stack.back() = of_integers(Operator::subtract, -1, stack.back(), op.kind);
      return;
    case Operator::no:
      stack.back() = stack.back() == 0;
      return;
    case Operator::choose: {
      const double otherwise = popped(stack), then = popped(stack);
      stack.back() = stack.back() != 0 ? then : otherwise;
      return;
    }
    default: {
      const double right = popped(stack);
      stack.back() = of_two(op, stack.back(), right);
    }
  }
}

void push_special(const Op& op, std::vector<double>& stack) {
  const std::size_t first = stack.size() - op.extra;
  const double value = special_functions()[op.index].call({stack.data() + first, op.extra});
  stack.resize(first);
  stack.push_back(value);
}

}  // namespace

std::uint64_t Formula::steps() const {
  constexpr std::uint64_t kCall = 10;      // a simple function of the mathematical library
  constexpr std::uint64_t kSpecial = 100;  // a few calls and polynomials
  std::uint64_t steps = 0;
  for (const Op& op : ops_) {
    const bool calls = op.step == Step::operation
                           ? op.op == Operator::power || op.op == Operator::remainder
                           : op.step == Step::call1 || op.step == Step::call2 || op.step == Step::shape;
    steps += calls ? kCall : 1;
    if (op.step == Step::call_special) steps += kSpecial;
    if (op.step == Step::shape) steps += op.extra >> kShapeBits;
  }
  return steps;
}

double Formula::value(double x, double y, std::span<const double> parameters) const {
  std::vector<double> stack;
  for (const Op& op : ops_) {
    switch (op.step) {
      case Step::constant:
        stack.push_back(op.number);
        break;
      case Step::variable:
        stack.push_back(op.index == 0 ? x : y);
        break;
      case Step::parameter:
        stack.push_back(op.index < parameters.size() ? parameters[op.index] : 0);
        break;
      case Step::operation:
        operate(op, stack);
        break;
      case Step::call1:
        stack.back() = functions_of_one()[op.index].call(stack.back());
        break;
      case Step::call2: {
        const double right = popped(stack);
        stack.back() = functions_of_two()[op.index].call(stack.back(), right);
        break;
      }
      case Step::shape:
        stack.push_back(shape_value(static_cast<ShapeOf>(op.extra & ((1u << kShapeBits) - 1)), op.extra >> kShapeBits,
                                    x, parameters, op.index));
        break;
      case Step::call_special:
        push_special(op, stack);
        break;
    }
  }
  return stack.empty() ? 0 : stack.back();
}

}  // namespace tfile
