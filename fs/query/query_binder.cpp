// SPDX-License-Identifier: Apache-2.0
#include "query/query_binder.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace tfilefs {

using tfile::ExpressionNode;
using tfile::Operator;

namespace {

using Bound = QueryBinder::Bound;

// Definitions may stand for others: all together have so many steps.
constexpr std::size_t kStepsMax = 10'000, kSlotsMax = 256;

std::string_view stripped(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

bool QueryBinder::add_output(Nodes nodes, std::string_view text, bool is_cut) {
  lost_ = is_cut ? 0 : std::numeric_limits<double>::quiet_NaN();
  has_elements_ = false;
  const auto slot = depth_;
  QueryProgram::Output output{std::string(stripped(text)), slot, is_integer(nodes)};
  const auto bound = number(nodes, kSpaceOfOutputs);
  if (!bound || !end_formula(*bound, kSpaceOfOutputs, slot)) return false;
  if (bound->space == kSpaceOfOutputs && !has_elements_ && !repeat_first(slot)) return false;
  made_.outputs.push_back(std::move(output));
  return true;
}

Error QueryBinder::error(std::string_view text) const {
  if (is_stopped_) return cancelled().value();
  return Error{ErrorKind::invalid, with_caret(mistake_.what, text, mistake_.at)};
}

std::nullopt_t QueryBinder::wrong(std::size_t at, std::string what) {
  if (!mistake_.what.empty()) return std::nullopt;
  if (!defining_.empty()) what = "in the definition of " + defining_.back() + ": " + what;
  mistake_ = {std::move(what), defining_.empty() ? at : defined_at_};
  return std::nullopt;
}

bool QueryBinder::add(QueryStep step) {
  if (made_.steps.size() >= kStepsMax || step.slot >= kSlotsMax) {
    wrong(0, "too long");
    return false;
  }
  made_.slots = std::max(made_.slots, step.slot + 2);
  made_.steps.push_back(step);
  return true;
}

std::optional<Bound> QueryBinder::push(QueryStep step, std::uint32_t takes) {
  depth_ -= takes;
  step.slot = depth_++;
  if (!add(step)) return std::nullopt;
  return Bound{step.space};
}

bool QueryBinder::spread(Bound bound, std::uint32_t space, std::uint32_t slot) {
  if (bound.space == space) return true;
  QueryStep step{.kind = Step::spread};
  step.slot = slot;
  step.space = space;
  return add(step);
}

bool QueryBinder::repeat_first(std::uint32_t slot) {
  QueryStep step{.kind = Step::repeat_first};
  step.slot = slot;
  step.space = kSpaceOfOutputs;
  return add(step);
}

bool QueryBinder::end_formula(Bound bound, std::uint32_t space, std::uint32_t slot) {
  if (!spread(bound, space, slot)) return false;
  if (std::ranges::find(computed_, space) == computed_.end()) return true;
  QueryStep step{.kind = Step::settle, .number = lost_};
  step.slot = slot;
  step.space = space;
  return add(step);
}

std::optional<Bound> QueryBinder::number(Nodes nodes, std::uint32_t space) {
  const ExpressionNode& node = nodes.back();
  is_stopped_ = is_stopped_ || scope_.stop.stop_requested();
  if (is_stopped_) return std::nullopt;
  switch (node.kind) {
    case Kind::number:
      return literal(node);
    case Kind::operation:
      return operation(nodes, space);
    case Kind::call:
      if (node.text.find('@') == std::string_view::npos && !node.text.starts_with('.')) return call(nodes, space);
      return named(nodes, space);
    case Kind::name:
    case Kind::index:
    case Kind::member:
      return named(nodes, space);
    case Kind::text:
      return wrong(node, "a text stands only beside == or !=, or in strstr()");
    default:
      return wrong(node, "not part of an expression of columns");
  }
}

std::optional<Bound> QueryBinder::literal(const ExpressionNode& node) {
  std::string_view text = node.text;
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) {
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    if (error != std::errc() || end != text.data() + text.size()) return wrong(node, "not a number");
    return constant(static_cast<double>(bits));
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return wrong(node, "not a number");
  return constant(value);
}

std::optional<Bound> QueryBinder::together(std::span<const Nodes> operands, std::uint32_t space, Operator op) {
  const bool is_by_need = op == Operator::both || op == Operator::either || op == Operator::choose;
  std::vector<Bound> bound;
  const std::uint32_t first = depth_;
  for (const Nodes operand : operands) {
    const bool is_held = is_by_need && !bound.empty() && may_be_lost(operand);
    if (is_held && !hold(space)) return std::nullopt;
    const auto each = number(operand, space);
    if (!each) return std::nullopt;
    const bool is_if = op == Operator::both || (op == Operator::choose && bound.size() == 1);
    if (is_held && !release(is_if ? Step::release_where : Step::release_where_not, space, first, bound[0].space))
      return std::nullopt;
    bound.push_back(*each);
  }
  Bound all;
  for (const Bound each : bound) all.space = std::max(all.space, each.space);
  for (std::uint32_t i = 0; i < bound.size(); ++i) {
    if (!spread(bound[i], all.space, first + i)) return std::nullopt;
  }
  return all;
}

bool QueryBinder::hold(std::uint32_t space) {
  QueryStep step{.kind = Step::hold};
  step.slot = depth_;
  step.space = space;
  return add(step);
}

bool QueryBinder::release(Step kind, std::uint32_t space, std::uint32_t slot, std::uint32_t owner) {
  QueryStep step{.kind = kind, .owner = owner};
  step.slot = slot;
  step.space = space;
  return add(step);
}

bool QueryBinder::may_be_lost(Nodes nodes) const {
  const auto is_given = [](Nodes index) { return index.back().kind == Kind::each || fixed_index(index); };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ExpressionNode& node = nodes[i];
    if (node.kind == Kind::name && defined(tfile::unquoted_name(node.text))) return true;
    if (node.kind != Kind::index) continue;
    const std::vector<Nodes> operands = operands_of(nodes.first(i + 1));
    if (!std::all_of(operands.begin() + (node.text.starts_with('.') ? 1 : 0), operands.end(), is_given)) return true;
  }
  return false;
}

std::optional<Bound> QueryBinder::operation(Nodes nodes, std::uint32_t space) {
  const ExpressionNode& node = nodes.back();
  const std::vector<Nodes> operands = operands_of(nodes);
  if (node.op == Operator::plus) return number(operands[0], space);
  if (node.op == Operator::bits_not) return wrong(node, "TTreeFormula has no ~");
  const bool compares = node.op == Operator::equal || node.op == Operator::unequal;
  if (compares && are_texts(operands))
    return texts(node.op == Operator::equal ? Step::equal_texts : Step::unequal_texts, operands, space);
  if (operands.size() == 2 && operands[1].size() == 1 && operands[1][0].kind == Kind::number)
    return operation_with_number(node, operands, space);
  const auto bound = together(operands, space, node.op);
  if (!bound) return std::nullopt;
  QueryStep step{.kind = node.op == Operator::choose ? Step::choose : Step::operation, .op = node.op};
  step.space = bound->space;
  return push(step, node.operands);
}

std::optional<Bound> QueryBinder::operation_with_number(const ExpressionNode& node, std::span<const Nodes> operands,
                                                        std::uint32_t space) {
  const auto bound = number(operands[0], space);
  if (!bound || !literal(operands[1][0])) return std::nullopt;
  const double value = made_.steps.back().number;
  made_.steps.pop_back();
  QueryStep step{.kind = Step::operation_with_number, .op = node.op, .number = value};
  step.space = bound->space;
  return push(step, 2);
}

}  // namespace tfilefs
