// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "query/query_functions.h"
#include "query/query_program.h"
#include "query/written_name.h"

namespace tfilefs {

using tfile::ColumnId;
using tfile::ExpressionNode;
using tfile::fail;
using tfile::Operator;

namespace {

using Kind = ExpressionNode::Kind;
using Step = QueryStep::Kind;
using Nodes = ExpressionNodes;

// Definitions may stand for others: all together have so many steps.
constexpr std::size_t kTextMax = 100'000, kStepsMax = 10'000, kSlotsMax = 256, kDefinitionsMax = 32;

// A part of a text that is not as it must be.
struct Mistake {
  std::string what;
  std::size_t at = 0;
};

// What a step leaves behind: numbers of entries, or of the iterations of a space.
struct Bound {
  std::uint32_t space = kSpaceOfEntries;
};

std::string_view stripped(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

class QueryBinder {
 public:
  explicit QueryBinder(const QueryScope& scope) : scope_(scope) {
    made_.spaces.resize(2);
    made_.spaces[kSpaceOfOutputs].along = kSpaceOfOutputs;
    made_.entries = std::max<std::int64_t>(0, scope.names.table().entries);
  }

  // A false result leaves a mistake behind.
  bool add_output(Nodes nodes, std::string_view text, bool is_cut) {
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

  // invalid, with the place in the text; or ECANCELED.
  Error error(std::string_view text) const {
    if (is_stopped_) return cancelled().value();
    return Error{ErrorKind::invalid, with_caret(mistake_.what, text, mistake_.at)};
  }
  QueryProgram take() { return std::move(made_); }

 private:
  std::nullopt_t wrong(const ExpressionNode& node, std::string what) { return wrong(node.at, std::move(what)); }
  // In a definition, the place of what stands for it.
  std::nullopt_t wrong(std::size_t at, std::string what) {
    if (!mistake_.what.empty()) return std::nullopt;
    if (!defining_.empty()) what = "in the definition of " + defining_.back() + ": " + what;
    mistake_ = {std::move(what), defining_.empty() ? at : defined_at_};
    return std::nullopt;
  }

  // ---- steps

  bool add(QueryStep step) {
    if (made_.steps.size() >= kStepsMax || step.slot >= kSlotsMax) {
      wrong(0, "too long");
      return false;
    }
    made_.slots = std::max(made_.slots, step.slot + 2);
    made_.steps.push_back(step);
    return true;
  }
  // Adds a step that takes the last `takes` operands.
  std::optional<Bound> push(QueryStep step, std::uint32_t takes = 0) {
    depth_ -= takes;
    step.slot = depth_++;
    if (!add(step)) return std::nullopt;
    return Bound{step.space};
  }
  bool spread(Bound bound, std::uint32_t space, std::uint32_t slot) {
    if (bound.space == space) return true;
    QueryStep step{.kind = Step::spread};
    step.slot = slot;
    step.space = space;
    return add(step);
  }
  // An expression without a list or array of its own, as Alt$(list,0), is one number for the entry.
  bool repeat_first(std::uint32_t slot) {
    QueryStep step{.kind = Step::repeat_first};
    step.slot = slot;
    step.space = kSpaceOfOutputs;
    return add(step);
  }
  // Numbers for all iterations of the space. Where a computed index was none of its list, the whole formula has none.
  bool end_formula(Bound bound, std::uint32_t space, std::uint32_t slot) {
    if (!spread(bound, space, slot)) return false;
    if (std::ranges::find(computed_, space) == computed_.end()) return true;
    QueryStep step{.kind = Step::settle, .number = lost_};
    step.slot = slot;
    step.space = space;
    return add(step);
  }
  std::optional<Bound> constant(double value) { return push({.kind = Step::number, .number = value}); }

  // ---- expressions

  std::optional<Bound> number(Nodes nodes, std::uint32_t space) {
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

  // As TTreeFormula reads it: in double, and 017 is 17.
  std::optional<Bound> literal(const ExpressionNode& node) {
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

  // Operands in the same space, the one that all of them need. Those behind &&, || and ?: only count where they do in
  // C++.
  std::optional<Bound> together(std::span<const Nodes> operands, std::uint32_t space, Operator op = Operator::plus) {
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

  bool hold(std::uint32_t space) {
    QueryStep step{.kind = Step::hold};
    step.slot = depth_;
    step.space = space;
    return add(step);
  }
  bool release(Step kind, std::uint32_t space, std::uint32_t slot, std::uint32_t owner) {
    QueryStep step{.kind = kind, .owner = owner};
    step.slot = slot;
    step.space = space;
    return add(step);
  }
  // Whether an index may be computed in it.
  bool may_be_lost(Nodes nodes) const {
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

  std::optional<Bound> operation(Nodes nodes, std::uint32_t space) {
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
  std::optional<Bound> operation_with_number(const ExpressionNode& node, std::span<const Nodes> operands,
                                             std::uint32_t space) {
    const auto bound = number(operands[0], space);
    if (!bound || !literal(operands[1][0])) return std::nullopt;
    const double value = made_.steps.back().number;
    made_.steps.pop_back();
    QueryStep step{.kind = Step::operation_with_number, .op = node.op, .number = value};
    step.space = bound->space;
    return push(step, 2);
  }

  // ---- calls

  std::optional<Bound> call(Nodes nodes, std::uint32_t space) {
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

  // Length$(x) and the like: of all iterations that x has alone.
  std::optional<Bound> special(const ExpressionNode& node, std::span<const Nodes> arguments, std::uint32_t space) {
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
  // The step that makes one number of what was entered there.
  std::optional<Bound> leave(std::size_t entered, QueryStep step, std::uint32_t takes) {
    made_.steps[entered].count = static_cast<std::uint32_t>(made_.steps.size() - entered);
    return push(step, takes);
  }
  std::optional<Bound> alternate(std::span<const Nodes> arguments, std::uint32_t space) {
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
  // Of a text, Length$ asks how many there are.
  std::optional<Bound> number_or_text(Nodes nodes, std::uint32_t space) {
    if (!is_column(nodes, NamedColumn::What::text)) return number(nodes, space);
    if (!text_of(nodes, space)) return std::nullopt;
    return constant(0);
  }

  std::uint32_t new_space() {
    const auto number = static_cast<std::uint32_t>(made_.spaces.size());
    made_.spaces.emplace_back().along = number;
    return number;
  }

  std::string why_no_function(std::string_view name) const {
    const std::string like = function_like(name);
    return "unknown function, or wrong number of arguments" + (like.empty() ? "" : "; did you mean " + like + "?");
  }

  // ---- names

  bool is_column(Nodes nodes, NamedColumn::What what) const {
    const auto name = written_name(nodes);
    const NamedColumn* found = name ? scope_.names.find(name->name) : nullptr;
    return found && found->what == what;
  }
  bool is_text(Nodes nodes) const {
    return nodes.back().kind == Kind::text || is_column(nodes, NamedColumn::What::text);
  }
  // A list or array of characters, without the index of one of them. It is a text where one is wanted.
  bool is_characters(Nodes nodes) const {
    const auto name = written_name(nodes);
    const NamedColumn* found = name && !name->is_object ? scope_.names.find(name->name) : nullptr;
    if (!found || found->what != NamedColumn::What::number || found->levels.empty()) return false;
    const std::size_t indices = name->indices.size() + (found->levels[0].is_match ? 1 : 0);
    return indices < found->levels.size() && scope_.names.table().columns[found->column].dtype == tfile::Dtype::i1;
  }
  // Lists of characters that are compared with numbers are numbers.
  bool are_texts(std::span<const Nodes> both) const {
    return is_text(both[0]) || is_text(both[1]) || (is_characters(both[0]) && is_characters(both[1]));
  }
  bool is_integer(Nodes nodes) const {
    constexpr std::string_view kCounts[] = {"Entry$",  "LocalEntry$",   "Entries$",
                                            "Length$", "LocalEntries$", "Iteration$"};
    const ExpressionNode& node = nodes.back();
    if (std::ranges::find(kCounts, node.text) != std::end(kCounts)) return true;
    const auto name = written_name(nodes);
    if (name && (name->is_object || node.kind == Kind::call)) return is_size_of_array(*name);
    const NamedColumn* found = name ? scope_.names.find(name->name) : nullptr;
    if (!found || found->what != NamedColumn::What::number) return found && found->what == NamedColumn::What::list;
    const tfile::Dtype dtype = scope_.names.table().columns[found->column].dtype;
    return dtype != tfile::Dtype::f4 && dtype != tfile::Dtype::f8;
  }

  // ROOT has whole numbers for the sizes of a TClonesArray, and not for those of a vector.
  bool is_size_of_array(const WrittenName& size) const {
    std::string name = size.name.substr(0, size.name.rfind('.'));
    std::erase(name, '@');
    const NamedColumn* found = scope_.names.find(name);
    if (!found || found->what != NamedColumn::What::list) return false;
    return scope_.names.table().columns[found->column].class_name == "TClonesArray";
  }

  std::optional<Bound> named(Nodes nodes, std::uint32_t space) {
    const auto name = written_name(nodes);
    if (!name) return wrong(nodes.back(), "methods of classes cannot be called");
    if (nodes.back().kind == Kind::name) {
      if (const auto found = definition(nodes.back(), name->name, space)) return *found;
      const bool is_quoted = name->name != nodes.back().text;
      if (const auto found = is_quoted ? std::nullopt : counter(nodes.back(), space)) return *found;
    }
    if (name->is_object || nodes.back().kind == Kind::call) return size_of_list(nodes, *name, space);
    const NamedColumn* found = scope_.names.find(name->name);
    if (!found) return not_found(*name);
    if (found->what == NamedColumn::What::text)
      return wrong(name->at, name->name + " is a text: it stands only beside == or !=, or in strstr()");
    if (found->what == NamedColumn::What::list)
      return wrong(name->at, name->name + " is a list of several columns: name one of them, or use Length$()");
    if (found->what == NamedColumn::What::record)
      return wrong(name->at, name->name + " is a record: name one of its columns");
    return load(*name, *found, space);
  }
  static std::string cannot_be_joined(const std::pair<std::string, std::string>& lost) {
    return "the friend " + tfile::quoted_name(lost.first) + " cannot be joined: " + lost.second;
  }
  std::nullopt_t not_found(const WrittenName& name) {
    constexpr std::size_t kShownMax = 100;
    if (const auto* const lost = scope_.names.lost_friend(name.name)) return wrong(name.at, cannot_be_joined(*lost));
    const std::string like = scope_.names.nearest(name.name);
    const bool is_long = name.name.size() > kShownMax;
    const auto& lost = scope_.names.lost_friends();
    return wrong(name.at, "there is no " + tfile::quoted_name(name.name.substr(0, kShownMax)) + (is_long ? "..." : "") +
                              (like.empty() ? "" : "; did you mean " + tfile::quoted_name(like) + "?") +
                              (lost.empty() ? "" : "; " + cannot_be_joined(lost.front())));
  }

  // The name is known, and wrong.
  std::optional<std::optional<Bound>> refused(const ExpressionNode& node, std::string why) {
    return std::optional<Bound>(wrong(node, std::move(why)));
  }

  // The outer optional is empty if the name is none of these.
  std::optional<std::optional<Bound>> counter(const ExpressionNode& node, std::uint32_t space) {
    const std::string_view name = node.text;
    if (name.starts_with("Local") && name.ends_with('$') && !scope_.is_one_file)
      return refused(node, "the number of an entry in its file is not known in a chain; Entry$ counts all");
    if (name == "Entry$" || name == "LocalEntry$") return push({.kind = Step::entry});
    if (name == "Entries$" || name == "LocalEntries$") return constant(static_cast<double>(made_.entries));
    if (name == "Iteration$" || name == "Length$") {
      QueryStep step{.kind = name == "Length$" ? Step::iterations : Step::iteration, .owner = space};
      step.space = name == "Length$" ? kSpaceOfEntries : space;
      has_elements_ = has_elements_ || step.space == kSpaceOfOutputs;
      return push(step);
    }
    if (scope_.names.find(name)) return std::nullopt;
    const auto function = query_function(name, 0);
    if (function && function->is_constant) return constant(function->constant);
    return std::nullopt;
  }

  // What the name stands for: a definition, or an alias of the table. Null: it is neither.
  const std::string* defined(std::string_view name) const {
    const NamedExpressions& definitions = scope_.definitions;
    const auto own = std::ranges::find(definitions, name, &NamedExpressions::value_type::first);
    if (own != definitions.end()) return &own->second;
    const auto& aliases = scope_.names.table().aliases;
    const auto alias = std::ranges::find(aliases, name, &tfile::TableAlias::name);
    return alias == aliases.end() ? nullptr : &alias->expression;
  }

  std::optional<std::optional<Bound>> definition(const ExpressionNode& node, const std::string& name,
                                                 std::uint32_t space) {
    const std::string* const expression = defined(name);
    if (!expression) return std::nullopt;
    // A column that a definition of the same name hides can be used in it.
    if (std::ranges::find(defining_, name) != defining_.end()) {
      if (defining_.back() == name && scope_.names.find(name)) return std::nullopt;
      return refused(node, name + " is defined by itself");
    }
    if (defining_.size() >= kDefinitionsMax) return refused(node, "too many definitions stand for each other");
    if (defining_.empty()) defined_at_ = node.at;
    defining_.push_back(name);
    const auto nodes = tfile::parse_expression(*expression, kQueryForm);
    std::optional<Bound> bound;
    if (nodes)
      bound = number(*nodes, space);
    else
      wrong(node, nodes.error().text);
    defining_.pop_back();
    return bound;
  }

  // ---- columns

  std::uint32_t input(ColumnId column, std::int32_t inside) {
    const auto found = std::ranges::find(made_.inputs, column, &Query::Input::column);
    if (found != made_.inputs.end()) return static_cast<std::uint32_t>(found - made_.inputs.begin());
    made_.inputs.push_back({column, inside});
    made_.item_sizes.push_back(static_cast<std::uint32_t>(scope_.names.table().columns[column].item_size()));
    made_.lengths.push_back(entries_of_column(scope_.names.table(), column));
    return static_cast<std::uint32_t>(made_.inputs.size() - 1);
  }
  // The input of offsets that are the last of some lists.
  std::int32_t inputs_of(std::span<const ListLevel> levels) {
    std::int32_t inside = -1;
    for (const ListLevel& level : levels) {
      if (level.offsets) inside = static_cast<std::int32_t>(input(*level.offsets, inside));
    }
    return inside;
  }

  // The path of a name with its indices in a space.
  std::optional<std::uint32_t> path(const WrittenName& name, ColumnId column, std::span<const ListLevel> levels,
                                    std::uint32_t space) {
    // What a friend has for an entry takes no index.
    const std::size_t first = !levels.empty() && levels[0].is_match ? 1 : 0;
    if (name.indices.size() > levels.size() - first)
      return wrong(name.indices[levels.size() - first].back(),
                   name.name + (levels.size() == first ? " is no list" : " has no further index"));
    QueryPath made;
    made.entries = entries_of_column(scope_.names.table(), column);
    has_elements_ = has_elements_ || (space == kSpaceOfOutputs && levels.size() > first);
    bool is_computed = false;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      QueryPath::Level& level = made.levels.emplace_back();
      level.offsets = levels[i].offsets ? inputs_of(levels.first(i + 1)) : -1;
      level.size = levels[i].size;
      const auto index = index_of_level(name, i, first, space);
      if (!index) return std::nullopt;
      level.index = *index;
      if (index->kind == PathIndex::Kind::fixed && level.offsets < 0 && index->at >= level.size)
        return wrong(name.indices[i - first].back(), "index " + std::to_string(index->at) + " is beyond the " +
                                                         std::to_string(level.size) + " elements of " + name.name);
      if (is_computed && index->kind == PathIndex::Kind::each)
        return wrong(name.at, "behind an index that is computed, all others must be given");
      is_computed = is_computed || index->kind == PathIndex::Kind::computed;
    }
    auto& paths = made_.spaces[space].paths;
    const auto known = std::ranges::find(paths, made);
    if (known != paths.end() && !is_computed) return static_cast<std::uint32_t>(known - paths.begin());
    paths.push_back(std::move(made));
    return static_cast<std::uint32_t>(paths.size() - 1);
  }
  // `first`: the level that the first of its indices belongs to.
  std::optional<PathIndex> index_of_level(const WrittenName& name, std::size_t level, std::size_t first,
                                          std::uint32_t space) {
    if (level < first) return PathIndex{PathIndex::Kind::fixed, 0};
    return level - first < name.indices.size() ? path_index(name.indices[level - first], space) : PathIndex();
  }
  // An index that is a number of digits alone; others are computed.
  static std::optional<std::uint32_t> fixed_index(Nodes nodes) {
    if (nodes.size() != 1 || nodes[0].kind != Kind::number) return std::nullopt;
    const std::string_view text = nodes[0].text;
    std::uint32_t at = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), at);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(at) : std::nullopt;
  }
  std::optional<PathIndex> path_index(Nodes nodes, std::uint32_t space) {
    if (nodes.back().kind == Kind::each) return PathIndex();
    if (const auto at = fixed_index(nodes)) return PathIndex{PathIndex::Kind::fixed, *at};
    const std::uint32_t slot = depth_;
    const auto bound = number(nodes, space);
    if (!bound || !spread(*bound, space, slot)) return std::nullopt;
    computed_.push_back(space);
    return PathIndex{PathIndex::Kind::computed, slot};
  }

  std::optional<Bound> load(const WrittenName& name, const NamedColumn& column, std::uint32_t space) {
    const std::uint32_t first = depth_;
    const auto found = path(name, column.column, column.levels, space);
    if (!found) return std::nullopt;
    depth_ = first;  // computed indices are used by the step
    QueryStep step{.kind = Step::load, .owner = space, .path = *found};
    step.space = made_.spaces[space].paths[*found].is_of_entry() ? kSpaceOfEntries : space;
    step.input = input(column.column, inputs_of(column.levels));
    step.dtype = scope_.names.table().columns[column.column].dtype;
    return push(step);
  }

  // ---- lists

  // The path through a list, of which only the size counts.
  bool path_of_list(Nodes nodes, std::uint32_t space) {
    const auto name = written_name(nodes);
    const NamedColumn* found = name ? scope_.names.find(name->name) : nullptr;
    if (!found) return false;
    std::vector<ListLevel> levels = found->levels;
    levels.push_back({found->column, 0, false});
    return path(*name, found->column, levels, space).has_value();
  }
  // @x.size(): how many elements the outermost list has. Where there is no entry of a friend, there is none of them.
  std::optional<Bound> size_of_list(Nodes nodes, WrittenName name, std::uint32_t space) {
    const bool is_last = name.name.ends_with(".GetLast");
    name.name = name_of_sized(std::move(name.name));
    if (nodes.back().kind != Kind::call || name.name.empty())
      return wrong(name.at, "of an object, only size() can be asked");
    const NamedColumn* found = scope_.names.find(name.name);
    if (!found) return not_found(name);
    std::vector<ListLevel> levels = found->levels;
    if (found->what == NamedColumn::What::list) levels.push_back({found->column, 0, false});
    const std::size_t wanted = name.indices.size() + (!levels.empty() && levels[0].is_match ? 2 : 1);
    if (levels.size() + 1 == wanted && name.indices.empty()) return wrong(name.at, name.name + " is no list");
    levels.resize(std::min(levels.size(), wanted));
    const bool is_match = !levels.empty() && levels[0].is_match;
    if (is_match && !path({name.name, {}, name.at}, found->column, std::span(levels).first(1), space))
      return std::nullopt;
    const std::uint32_t inner = new_space();
    const std::size_t entered = made_.steps.size();
    if (!add({.kind = Step::enter, .slot = depth_})) return std::nullopt;
    if (!path(name, found->column, levels, inner)) return std::nullopt;
    const auto size = leave(entered, {.kind = Step::iterations, .owner = inner}, 0);
    if (!size || !is_last) return size;
    return push({.kind = Step::operation_with_number, .op = Operator::subtract, .number = 1}, 1);
  }

  // ---- texts

  std::optional<Bound> texts(Step kind, std::span<const Nodes> operands, std::uint32_t space) {
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
  std::optional<QueryText> text_of(Nodes nodes, std::uint32_t space) {
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

  const QueryScope& scope_;
  QueryProgram made_;
  double lost_ = 0;                      // what a formula is without a number
  bool has_elements_ = false;            // the output names some of a list or array, or Iteration$
  std::uint32_t depth_ = 0;              // slots in use
  std::vector<std::uint32_t> computed_;  // spaces in which an index is
  std::vector<std::string> defining_;
  std::size_t defined_at_ = 0;
  Mistake mistake_;
  bool is_stopped_ = false;
};

using Expressions = std::vector<std::vector<ExpressionNode>>;

Result<Expressions> parsed(const std::string& text, bool may_be_several) {
  if (text.size() > kTextMax) return fail(ErrorKind::invalid, "an expression of more than 100,000 characters\n");
  auto nodes = may_be_several ? tfile::parse_expressions(text, kQueryForm)
                              : Result<Expressions>(tfile::parse_expression(text, kQueryForm).map([](auto one) {
                                  return Expressions{std::move(one)};
                                }));
  if (nodes) return nodes;
  const std::string& why = nodes.error().text;
  const std::size_t colon = why.find(": ");
  return fail(ErrorKind::invalid, with_caret(why.substr(colon == why.npos ? 0 : colon + 2), text,
                                             static_cast<std::size_t>(nodes.error().offset)));
}

// Where each of the expressions stands in the text: up to the colon behind it.
std::vector<std::string_view> texts_of(std::string_view text, const Expressions& expressions) {
  if (expressions.size() == 1) return {text};
  std::vector<std::string_view> texts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    std::size_t end = text.size();
    if (i + 1 < expressions.size()) {
      std::size_t next = text.size();
      for (const ExpressionNode& node : expressions[i + 1]) next = std::min(next, node.at);
      end = text.rfind(':', next);
    }
    texts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return texts;
}

Result<> add_expressions(QueryBinder& binder, const std::string& text, bool may_be_several, bool is_cut) {
  TRY(const Expressions expressions, parsed(text, may_be_several));
  const auto texts = texts_of(text, expressions);
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    if (!binder.add_output(expressions[i], texts[i], is_cut)) return tl::unexpected<Error>(binder.error(text));
  }
  return {};
}

}  // namespace

bool QueryPath::is_of_entry() const {
  return std::ranges::all_of(levels, [](const Level& level) { return level.index.kind == PathIndex::Kind::fixed; });
}

Result<Query> Query::bind(const std::vector<std::string>& expressions, const QueryScope& scope) {
  QueryBinder binder(scope);
  for (const std::string& text : expressions) TRY_VOID(add_expressions(binder, text, false, false));
  return Query(std::make_shared<const QueryProgram>(binder.take()));
}

Result<Query> Query::bind(const std::string& expressions, const std::vector<std::string>& cuts,
                          const QueryScope& scope) {
  QueryBinder binder(scope);
  TRY_VOID(add_expressions(binder, expressions, true, false));
  for (const std::string& text : cuts) TRY_VOID(add_expressions(binder, text, false, true));
  return Query(std::make_shared<const QueryProgram>(binder.take()));
}

Result<Query> Query::bind_cut(const std::string& cut, const QueryScope& scope) {
  QueryBinder binder(scope);
  TRY_VOID(add_expressions(binder, cut, false, true));
  return Query(std::make_shared<const QueryProgram>(binder.take()));
}

std::size_t Query::outputs() const { return program_->outputs.size(); }
const std::string& Query::text(std::size_t output) const { return program_->outputs[output].text; }
bool Query::is_integer(std::size_t output) const { return program_->outputs[output].is_integer; }
const std::vector<Query::Input>& Query::inputs() const { return program_->inputs; }

std::int64_t Query::end() const {
  std::int64_t end = program_->entries;
  for (const QueryPath& path : program_->spaces[kSpaceOfOutputs].paths) end = std::min(end, path.entries);
  return end;
}

bool Query::is_one_each() const {
  const auto is_one = [](const QueryPath::Level& level) {
    return level.offsets < 0 && level.index.kind == PathIndex::Kind::fixed && level.index.at < level.size;
  };
  return end() == program_->entries &&
         std::ranges::all_of(program_->spaces[kSpaceOfOutputs].paths,
                             [&](const QueryPath& path) { return std::ranges::all_of(path.levels, is_one); });
}

Result<> check_expression(const std::string& text) {
  TRY_VOID(parsed(text, false));
  return {};
}

Error on_one_line(Error error) {
  const std::size_t message = error.text.find("\n  "), caret = error.text.rfind("\n  ");
  if (message == std::string::npos || caret == message) return error;
  const std::size_t at = error.text.find('^', caret) - (caret + 3);
  const std::string expression = error.text.substr(message + 3, caret - (message + 3));
  error.text = error.text.substr(0, message) + " (character " + std::to_string(at + 1) + " of " + expression + ")";
  return error;
}

std::string with_caret(std::string_view message, std::string_view expression, std::size_t at) {
  constexpr std::size_t kShownMax = 100, kBefore = 60;
  at = std::min(at, expression.size());
  if (expression.size() > kShownMax) {
    const std::size_t begin = at > kBefore ? at - kBefore : 0;
    expression = expression.substr(begin, kShownMax);
    at -= begin;
  }
  // A character may have several bytes.
  const auto columns = std::count_if(expression.begin(), expression.begin() + static_cast<std::ptrdiff_t>(at),
                                     [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  return std::string(message) + "\n  " + std::string(expression) + "\n  " +
         std::string(static_cast<std::size_t>(columns), ' ') + "^\n";
}

bool is_query_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::optional<NamedExpressions::value_type> parse_named_expression(std::string_view text) {
  const std::size_t equal = text.find('=');
  if (equal == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, equal), expression = text.substr(equal + 1);
  if (!is_query_name(name) || expression.empty() || expression.starts_with('=')) return std::nullopt;
  return NamedExpressions::value_type(name, expression);
}

}  // namespace tfilefs
