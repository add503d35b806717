// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "query/query_binder.h"
#include "query/query_functions.h"

namespace tfilefs {

using tfile::ExpressionNode;

namespace {

using Bound = QueryBinder::Bound;
using Kind = ExpressionNode::Kind;
using Nodes = ExpressionNodes;
using Step = QueryStep::Kind;

}  // namespace

std::optional<Bound> QueryBinder::call(Nodes nodes, std::uint32_t space) {
  const ExpressionNode& node = nodes.back();
  const std::vector<Nodes> arguments = operands_of(nodes);
  if (node.text.ends_with('$')) return special(node, arguments, space);
  if (node.text == "strstr" && arguments.size() == 2) return texts(Step::found_text, arguments, space);
  const auto function = query_function(node.text, arguments.size());
  if (!function) return wrong(node, why_no_function(node.text));
  if (function->is_constant) return constant(function->constant);
  const auto bound = together(arguments, space);
  if (!bound) return std::nullopt;
  QueryStep step = function->step;
  step.space = bound->space;
  return push(step, node.operands);
}

std::optional<Bound> QueryBinder::special(const ExpressionNode& node, std::span<const Nodes> arguments,
                                          std::uint32_t space) {
  constexpr std::pair<std::string_view, Step> kReductions[] = {
      {"Sum$", Step::sum},        {"Min$", Step::least},     {"Max$", Step::most},
      {"MinIf$", Step::least_if}, {"MaxIf$", Step::most_if}, {"Length$", Step::iterations}};
  if (node.text == "Alt$" && arguments.size() == 2) return alternate(arguments, space);
  const auto* const found = std::ranges::find(kReductions, node.text, &std::pair<std::string_view, Step>::first);
  const std::size_t wanted = node.text.starts_with("MinIf") || node.text.starts_with("MaxIf") ? 2 : 1;
  if (found == std::end(kReductions) || arguments.size() != wanted)
    return wrong(node, "unknown function, or wrong number of arguments");
  const std::uint32_t inner = new_space(), first = depth_;
  const std::size_t entered = made_.steps.size();
  if (!add({.kind = Step::enter, .slot = first})) return std::nullopt;
  if (found->second == Step::iterations && is_column(arguments[0], NamedColumn::What::list)) {
    if (!path_of_list(arguments[0], inner)) return std::nullopt;
    return leave(entered, {.kind = Step::iterations, .owner = inner}, 0);
  }
  for (const Nodes argument : arguments) {
    const auto bound = number_or_text(argument, inner);
    if (!bound || !end_formula(*bound, inner, depth_ - 1)) return std::nullopt;
  }
  depth_ = first + static_cast<std::uint32_t>(wanted);
  return leave(entered, {.kind = found->second, .owner = inner}, static_cast<std::uint32_t>(wanted));
}

std::optional<Bound> QueryBinder::leave(std::size_t entered, QueryStep step, std::uint32_t takes) {
  made_.steps[entered].count = static_cast<std::uint32_t>(made_.steps.size() - entered);
  return push(step, takes);
}

std::optional<Bound> QueryBinder::alternate(std::span<const Nodes> arguments, std::uint32_t space) {
  const std::uint32_t inner = new_space();
  made_.spaces[inner].along = made_.spaces[space].along;
  const auto primary = number(arguments[0], inner);
  if (!primary || !end_formula(*primary, inner, depth_ - 1)) return std::nullopt;
  const bool is_held = may_be_lost(arguments[1]);
  if (is_held && !hold(space)) return std::nullopt;
  const auto other = number(arguments[1], space);
  if (is_held && other && !release(Step::release_where_none, space, depth_, inner)) return std::nullopt;
  if (!other || !spread(*other, space, depth_ - 1)) return std::nullopt;
  QueryStep step{.kind = Step::alternate, .owner = inner};
  step.space = space;
  return push(step, 2);
}

std::optional<Bound> QueryBinder::number_or_text(Nodes nodes, std::uint32_t space) {
  if (!is_column(nodes, NamedColumn::What::text)) return number(nodes, space);
  if (!text_of(nodes, space)) return std::nullopt;
  return constant(0);
}

std::uint32_t QueryBinder::new_space() {
  const auto number = static_cast<std::uint32_t>(made_.spaces.size());
  made_.spaces.emplace_back().along = number;
  return number;
}

std::string QueryBinder::why_no_function(std::string_view name) const {
  const std::string like = function_like(name);
  return "unknown function, or wrong number of arguments" + (like.empty() ? "" : "; did you mean " + like + "?");
}

std::optional<Bound> QueryBinder::texts(Step kind, std::span<const Nodes> operands, std::uint32_t space) {
  QueryStep step{.kind = kind, .owner = space};
  std::array<QueryText, 2> both;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!is_text(operands[i]) && !is_characters(operands[i]))
      return wrong(operands[i].back(), "a text is compared with a text alone");
    auto text = text_of(operands[i], space);
    if (!text) return std::nullopt;
    both[i] = *std::move(text);
    const bool is_listed = both[i].chars >= 0 && !made_.spaces[space].paths[both[i].path].is_of_entry();
    if (is_listed) step.space = space;
  }
  step.texts = static_cast<std::uint32_t>(made_.texts.size());
  for (QueryText& text : both) made_.texts.push_back(std::move(text));
  return push(step);
}

std::optional<QueryText> QueryBinder::text_of(Nodes nodes, std::uint32_t space) {
  QueryText made;
  if (nodes.back().kind == Kind::text) {
    made.constant = nodes.back().text;
    return made;
  }
  const auto name = written_name(nodes);
  const NamedColumn& column = *scope_.names.find(name->name);
  std::vector<ListLevel> around = column.levels;
  const bool is_text_column = column.what == NamedColumn::What::text;
  if (!is_text_column) around.pop_back();
  const auto found = path(*name, column.column, around, space);
  if (!found) return std::nullopt;
  for (const QueryPath::Level& level : made_.spaces[space].paths[*found].levels) {
    if (level.index.kind == PathIndex::Kind::computed) return wrong(name->at, "an index of texts cannot be computed");
  }
  const tfile::Column& chars = scope_.names.table().columns[column.column];
  made.path = *found;
  std::int32_t inside = inputs_of(column.levels);
  if (is_text_column) inside = static_cast<std::int32_t>(input(chars.lists.back(), inside));
  made.size = is_text_column ? 0 : column.levels.back().size;
  made.offsets = made.size == 0 ? inside : -1;
  made.chars = static_cast<std::int32_t>(input(column.column, inside));
  return made;
}

}  // namespace tfilefs
