// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "plot/formula.h"
#include "tfile/expression.h"
#include "tfile/formula_functions.h"

namespace tfile {
namespace {

using Step = Formula::Step;
using Node = ExpressionNode;
using Nodes = std::vector<ExpressionNode>;

// TFormula's compiler accepts 256 parentheses in each other.
constexpr ExpressionForm kFormulaForm{514, 200'000};
constexpr std::size_t kOpsMax = 20'000;
constexpr std::uint32_t kParametersMax = 1'000'000, kDegreeMax = 100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// As TFormula reads it: without spaces, and without the marks of C++ between digits.
std::string without_spaces(std::string_view text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_between_digits =
        c == '\'' && i > 0 && is_digit(text[i - 1]) && i + 1 < text.size() && is_digit(text[i + 1]);
    if (c != ' ' && c != '\t' && c != '\n' && !is_between_digits) kept += c;
  }
  return kept;
}

bool is_truth(Operator op) {
  switch (op) {
    case Operator::less:
    case Operator::greater:
    case Operator::less_equal:
    case Operator::greater_equal:
    case Operator::equal:
    case Operator::unequal:
    case Operator::both:
    case Operator::either:
    case Operator::no:
      return true;
    default:
      return false;
  }
}
bool is_shift(Operator op) { return op == Operator::shift_left || op == Operator::shift_right; }
bool needs_integers(Operator op) {
  return is_shift(op) || op == Operator::bits_and || op == Operator::bits_or || op == Operator::bits_not;
}

tl::unexpected<Error> refused(const Node& node, const char* what) {
  return fail(ErrorKind::unsupported,
              "byte " + std::to_string(node.at + 1) + ", " + std::string(node.text.substr(0, 200)) + ": " + what);
}

// The whole of a text as a number.
template <class T, class... Base>
bool read_whole(std::string_view text, T& into, Base... base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, base...);
  return error == std::errc() && end == text.data() + text.size();
}

// A name without the namespaces in which it may stand.
std::string_view plain(const Node& node) {
  std::string_view name = node.text;
  for (const std::string_view space : {"::", "std::", "TMath::", "ROOT::Math::"}) {
    if (name.starts_with(space)) name.remove_prefix(space.size());
  }
  return plain_name(name);
}

// gaus, expo, pol3, and xgaus, which ROOT 5 wrote. Its kind and degree are Formula::Op::extra.
std::optional<std::uint32_t> shape_named(std::string_view name) {
  if (name.starts_with('x') && name.size() > 1) name.remove_prefix(1);
  std::string_view stem = name;
  while (!stem.empty() && is_digit(stem.back())) stem.remove_suffix(1);
  const auto found = std::ranges::find(shapes(), stem, &Shape::name);
  if (found == shapes().end()) return std::nullopt;
  const bool has_degree = found->kind == ShapeOf::pol || found->kind == ShapeOf::chebyshev;
  std::uint32_t degree = 0;
  std::from_chars(name.data() + stem.size(), name.data() + name.size(), degree);
  if (has_degree != (stem.size() != name.size()) || degree > kDegreeMax) return std::nullopt;
  return static_cast<std::uint32_t>(found->kind) | degree << Formula::kShapeBits;
}

// The steps of a formula. Tracks the kind of each number on the stack, as C++ does.
class FormulaCompiler {
 public:
  FormulaCompiler(std::size_t variables, std::vector<std::string> names);
  Result<Formula> compile(const Nodes& nodes);

 private:
  // Marks nodes that are no values, but say which variable or parameters are meant.
  static std::vector<bool> told_by_notation(const Nodes& nodes);
  Result<> step(const Nodes& nodes, std::size_t i);

  // Adds a step that takes the last `takes` numbers and leaves one.
  void add(const Formula::Op& op, std::size_t takes, Arithmetic gives);
  Result<> constant(double value, Arithmetic kind);
  // The kind to which C++ converts the last `count` numbers before it computes with them.
  Arithmetic kind_of_last(std::size_t count) const;
  Result<> compute(const Node& node);

  // As in C: 12, 0x1f and 017 are ints, or longs if too large for an int; 1. and 1e3 are floating.
  Result<> number(const Node& node);

  // [3], [p3]. Other names are numbered in the order of their first use.
  std::uint32_t number_of(std::string_view name);
  Result<> parameter(const Node& node);
  Result<> name(const Node& node);
  Result<> variable(std::uint32_t index);
  // x[0] is C's spelling of x, x[1] of y.
  Result<> index(const Node& node, std::span<const Node> last);
  static const Constant* constant_named(std::string_view name, std::string_view Constant::*which);
  Result<> call(const Node& node, std::span<const Node> arguments);

  template <class Functions>
  bool call(Functions functions, Step step, std::string_view name, std::size_t takes, std::size_t arguments) {
    const auto found = std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.name == name; });
    if (arguments != takes || found == functions.end()) return false;
    const Arithmetic gives = found->gives == Gives::as_given       ? kind_of_last(takes)
                             : found->gives == Gives::integer      ? Arithmetic::integer
                             : found->gives == Gives::long_integer ? Arithmetic::long_integer
                                                                   : Arithmetic::floating;
    const auto index = static_cast<std::uint32_t>(found - functions.begin());
    add({.step = step, .kind = gives, .index = index}, takes, gives);
    return true;
  }

  bool special(std::string_view name, std::size_t arguments);
  Result<> shape(std::uint32_t kind_and_degree, std::uint32_t first);
  // gaus(0), gaus(x,0), gaus([0],[1],[2]): the first parameter counts, the others follow it.
  Result<> shape_call(const Node& node, std::uint32_t kind_and_degree, std::span<const Node> arguments);

  const std::size_t variables_;
  std::vector<std::string> names_;
  std::vector<Formula::Op> ops_;
  std::vector<Arithmetic> kinds_;  // of the numbers on the stack after these steps
};

FormulaCompiler::FormulaCompiler(std::size_t variables, std::vector<std::string> names)
    : variables_(variables), names_(std::move(names)) {}

Result<Formula> FormulaCompiler::compile(const Nodes& nodes) {
  const std::vector<bool> told = told_by_notation(nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (told[i]) continue;
    TRY_VOID(step(nodes, i));
    if (ops_.size() > kOpsMax) return refused(nodes[i], "too many steps");
  }
  return Formula(std::move(ops_));
}

std::vector<bool> FormulaCompiler::told_by_notation(const Nodes& nodes) {
  std::vector<bool> told(nodes.size(), false);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool tells =
        nodes[i].kind == Node::Kind::index || (nodes[i].kind == Node::Kind::call && shape_named(plain(nodes[i])));
    if (tells) std::fill_n(told.begin() + static_cast<std::ptrdiff_t>(i + 1 - nodes[i].size), nodes[i].size - 1, true);
  }
  return told;
}

Result<> FormulaCompiler::step(const Nodes& nodes, std::size_t i) {
  const Node& node = nodes[i];
  const std::span<const Node> last = std::span(nodes).subspan(i - node.operands, node.operands);
  switch (node.kind) {
    case Node::Kind::number:
      return number(node);
    case Node::Kind::name:
      return name(node);
    case Node::Kind::parameter:
      return parameter(node);
    case Node::Kind::operation:
      return compute(node);
    case Node::Kind::call:
      return call(node, last);
    case Node::Kind::index:
      return index(node, last);
    default:
      return refused(node, "not part of a formula");
  }
}

void FormulaCompiler::add(const Formula::Op& op, std::size_t takes, Arithmetic gives) {
  kinds_.resize(kinds_.size() - takes);
  kinds_.push_back(gives);
  ops_.push_back(op);
}

Result<> FormulaCompiler::constant(double value, Arithmetic kind) {
  add({.step = Step::constant, .kind = kind, .number = value}, 0, kind);
  return {};
}

Arithmetic FormulaCompiler::kind_of_last(std::size_t count) const {
  return *std::max_element(kinds_.end() - static_cast<std::ptrdiff_t>(count), kinds_.end());
}

Result<> FormulaCompiler::compute(const Node& node) {
  const Operator op = node.op;
  if (op == Operator::plus) return {};
  const Arithmetic common = kind_of_last(op == Operator::choose ? 2 : node.operands);
  if (needs_integers(op) && common == Arithmetic::floating) return refused(node, "expected integers");
  // A shift has the kind of its left operand.
  const Arithmetic kind = is_shift(op) ? kinds_[kinds_.size() - 2] : common;
  const Arithmetic gives = is_truth(op) ? Arithmetic::integer : op == Operator::power ? Arithmetic::floating : kind;
  add({.step = Step::operation, .op = op, .kind = kind}, node.operands, gives);
  return {};
}

Result<> FormulaCompiler::number(const Node& node) {
  const std::string_view text = node.text;
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const char behind_digits = text[std::min(text.find_first_not_of("0123456789"), text.size() - 1)];
  if (!is_hex && (behind_digits == '.' || behind_digits == 'e' || behind_digits == 'E')) {
    double value = 0;
    return read_whole(text, value) ? constant(value, Arithmetic::floating) : refused(node, "not a C++ number");
  }
  std::int64_t value = 0;
  if (!read_whole(text.substr(is_hex ? 2 : 0), value, is_hex ? 16 : text[0] == '0' ? 8 : 10))
    return refused(node, "not a C++ number");
  const bool fits = value <= std::numeric_limits<std::int32_t>::max();
  return constant(static_cast<double>(value), fits ? Arithmetic::integer : Arithmetic::long_integer);
}

std::uint32_t FormulaCompiler::number_of(std::string_view name) {
  const auto number = [&](auto of) { return static_cast<std::uint32_t>(of - names_.begin()); };
  if (const auto known = std::ranges::find(names_, name); known != names_.end()) return number(known);
  std::uint32_t index = 0;
  if (read_whole(name.substr(name.starts_with('p') ? 1 : 0), index)) return index;
  names_.emplace_back(name);
  return number(names_.end() - 1);
}

Result<> FormulaCompiler::parameter(const Node& node) {
  const std::uint32_t index = number_of(node.text);
  if (index > kParametersMax) return refused(node, "not a parameter number");
  add({.step = Step::parameter, .index = index}, 0, Arithmetic::floating);
  return {};
}

Result<> FormulaCompiler::name(const Node& node) {
  const std::string_view name = plain(node);
  if (name == "x") return variable(0);
  if (name == "y" && variables_ > 1) return variable(1);
  if (const Constant* found = constant_named(name, &Constant::name)) return constant(found->value, found->kind);
  if (const auto kind = shape_named(name)) return shape(*kind, 0);
  return refused(node, "unknown variable, constant or shape");
}

Result<> FormulaCompiler::variable(std::uint32_t index) {
  add({.step = Step::variable, .index = index}, 0, Arithmetic::floating);
  return {};
}

Result<> FormulaCompiler::index(const Node& node, std::span<const Node> last) {
  const bool is_plain = last.size() == 1 && last[0].kind == Node::Kind::number && !last[0].in_parentheses;
  if (is_plain && plain(node) == "x" && last[0].text == "0") return variable(0);
  if (is_plain && plain(node) == "x" && last[0].text == "1" && variables_ > 1) return variable(1);
  return refused(node, "unknown variable");
}

const Constant* FormulaCompiler::constant_named(std::string_view name, std::string_view Constant::*which) {
  const auto found = std::ranges::find(constants(), name, which);
  return name.empty() || found == constants().end() ? nullptr : &*found;
}

Result<> FormulaCompiler::call(const Node& node, std::span<const Node> arguments) {
  const std::string_view name = plain(node);
  const auto* const constant = arguments.empty() ? constant_named(name, &Constant::call) : nullptr;
  if (constant) return this->constant(constant->value, constant->kind);
  if (const auto kind = shape_named(name)) return shape_call(node, *kind, arguments);
  const bool is_known = call(functions_of_one(), Step::call1, name, 1, arguments.size()) ||
                        call(functions_of_two(), Step::call2, name, 2, arguments.size()) ||
                        special(name, arguments.size());
  if (!is_known) return refused(node, "unknown function, or wrong number of arguments");
  return {};
}

bool FormulaCompiler::special(std::string_view name, std::size_t arguments) {
  const auto all = special_functions();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.name == name; });
  if (found == all.end() || arguments < found->least || arguments > found->most) return false;
  const auto index = static_cast<std::uint32_t>(found - all.begin()), extra = static_cast<std::uint32_t>(arguments);
  add({.step = Step::call_special, .index = index, .extra = extra}, arguments, Arithmetic::floating);
  return true;
}

Result<> FormulaCompiler::shape(std::uint32_t kind_and_degree, std::uint32_t first) {
  add({.step = Step::shape, .index = first, .extra = kind_and_degree}, 0, Arithmetic::floating);
  return {};
}

Result<> FormulaCompiler::shape_call(const Node& node, std::uint32_t kind_and_degree, std::span<const Node> arguments) {
  const bool are_plain = std::ranges::all_of(arguments, [](const Node& a) { return a.size == 1 && !a.in_parentheses; });
  if (!are_plain) return refused(node, "expected parameters of a shape");
  if (arguments.size() > 1 && arguments[0].kind == Node::Kind::name && arguments[0].text == "x")
    arguments = arguments.subspan(1);
  std::uint32_t first = 0;
  bool is_known = arguments.empty();
  if (!is_known && std::ranges::all_of(arguments, [](const Node& a) { return a.kind == Node::Kind::parameter; })) {
    first = number_of(arguments[0].text);
    is_known = true;
  } else if (arguments.size() == 1 && arguments[0].kind == Node::Kind::number) {
    is_known = read_whole(arguments[0].text, first);
  }
  if (!is_known || first > kParametersMax) return refused(node, "expected parameters of a shape");
  return shape(kind_and_degree, first);
}

}  // namespace

Result<Formula> Formula::parse(std::string_view text, std::size_t variables, std::vector<std::string> names) {
  const std::string formula = without_spaces(text);
  if (formula.empty()) return fail(ErrorKind::unsupported, "function is compiled code without saved points");
  const auto nodes = parse_expression(formula, kFormulaForm);
  auto compiled = nodes ? FormulaCompiler(variables, std::move(names)).compile(*nodes) : tl::unexpected(nodes.error());
  if (!compiled)
    return fail(ErrorKind::unsupported,
                "cannot parse the formula: " + formula.substr(0, 200) + " (" + compiled.error().text + ")");
  return compiled;
}

}  // namespace tfile
