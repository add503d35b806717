// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "query/query_binder.h"
#include "query/query_functions.h"

namespace tfilefs {

using tfile::ColumnId;
using tfile::ExpressionNode;
using tfile::Operator;

namespace {

using Bound = QueryBinder::Bound;

constexpr std::size_t kDefinitionsMax = 32;

}  // namespace

bool QueryBinder::is_column(Nodes nodes, NamedColumn::What what) const {
  const auto name = written_name(nodes);
  const NamedColumn* found = name ? scope_.names.find(name->name) : nullptr;
  return found && found->what == what;
}

bool QueryBinder::is_text(Nodes nodes) const {
  return nodes.back().kind == Kind::text || is_column(nodes, NamedColumn::What::text);
}

bool QueryBinder::is_characters(Nodes nodes) const {
  const auto name = written_name(nodes);
  const NamedColumn* found = name && !name->is_object ? scope_.names.find(name->name) : nullptr;
  if (!found || found->what != NamedColumn::What::number || found->levels.empty()) return false;
  const std::size_t indices = name->indices.size() + (found->levels[0].is_match ? 1 : 0);
  return indices < found->levels.size() && scope_.names.table().columns[found->column].dtype == tfile::Dtype::i1;
}

bool QueryBinder::are_texts(std::span<const Nodes> both) const {
  return is_text(both[0]) || is_text(both[1]) || (is_characters(both[0]) && is_characters(both[1]));
}

bool QueryBinder::is_integer(Nodes nodes) const {
  constexpr std::string_view kWholeNumbers[] = {"Entry$",  "LocalEntry$",   "Entries$",
                                                "Length$", "LocalEntries$", "Iteration$"};
  const ExpressionNode& node = nodes.back();
  if (std::ranges::find(kWholeNumbers, node.text) != std::end(kWholeNumbers)) return true;
  const auto name = written_name(nodes);
  if (name && (name->is_object || node.kind == Kind::call)) return is_size_of_array(*name);
  const NamedColumn* found = name ? scope_.names.find(name->name) : nullptr;
  if (!found || found->what != NamedColumn::What::number) return found && found->what == NamedColumn::What::list;
  const tfile::Dtype dtype = scope_.names.table().columns[found->column].dtype;
  return dtype != tfile::Dtype::f4 && dtype != tfile::Dtype::f8;
}

bool QueryBinder::is_size_of_array(const WrittenName& size) const {
  std::string name = size.name.substr(0, size.name.rfind('.'));
  std::erase(name, '@');
  const NamedColumn* found = scope_.names.find(name);
  if (!found || found->what != NamedColumn::What::list) return false;
  return scope_.names.table().columns[found->column].class_name == "TClonesArray";
}

std::optional<Bound> QueryBinder::named(Nodes nodes, std::uint32_t space) {
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

std::string QueryBinder::cannot_be_joined(const std::pair<std::string, std::string>& lost) {
  return "the friend " + tfile::quoted_name(lost.first) + " cannot be joined: " + lost.second;
}

std::nullopt_t QueryBinder::not_found(const WrittenName& name) {
  constexpr std::size_t kShownMax = 100;
  if (const auto* const lost = scope_.names.lost_friend(name.name)) return wrong(name.at, cannot_be_joined(*lost));
  const std::string like = scope_.names.nearest(name.name);
  const bool is_long = name.name.size() > kShownMax;
  const auto& lost = scope_.names.lost_friends();
  return wrong(name.at, "there is no " + tfile::quoted_name(name.name.substr(0, kShownMax)) + (is_long ? "..." : "") +
                            (like.empty() ? "" : "; did you mean " + tfile::quoted_name(like) + "?") +
                            (lost.empty() ? "" : "; " + cannot_be_joined(lost.front())));
}

std::optional<std::optional<Bound>> QueryBinder::refused(const ExpressionNode& node, std::string why) {
  return std::optional<Bound>(wrong(node, std::move(why)));
}

std::optional<std::optional<Bound>> QueryBinder::counter(const ExpressionNode& node, std::uint32_t space) {
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

const std::string* QueryBinder::defined(std::string_view name) const {
  const NamedExpressions& definitions = scope_.definitions;
  const auto own = std::ranges::find(definitions, name, &NamedExpressions::value_type::first);
  if (own != definitions.end()) return &own->second;
  const auto& aliases = scope_.names.table().aliases;
  const auto alias = std::ranges::find(aliases, name, &tfile::TableAlias::name);
  return alias == aliases.end() ? nullptr : &alias->expression;
}

std::optional<std::optional<Bound>> QueryBinder::definition(const ExpressionNode& node, const std::string& name,
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

std::uint32_t QueryBinder::input(ColumnId column, std::int32_t inside) {
  const auto found = std::ranges::find(made_.inputs, column, &Query::Input::column);
  if (found != made_.inputs.end()) return static_cast<std::uint32_t>(found - made_.inputs.begin());
  made_.inputs.push_back({column, inside});
  made_.item_sizes.push_back(static_cast<std::uint32_t>(scope_.names.table().columns[column].item_size()));
  made_.lengths.push_back(entries_of_column(scope_.names.table(), column));
  return static_cast<std::uint32_t>(made_.inputs.size() - 1);
}

std::int32_t QueryBinder::inputs_of(std::span<const ListLevel> levels) {
  std::int32_t inside = -1;
  for (const ListLevel& level : levels) {
    if (level.offsets) inside = static_cast<std::int32_t>(input(*level.offsets, inside));
  }
  return inside;
}

std::optional<std::uint32_t> QueryBinder::path(const WrittenName& name, ColumnId column,
                                               std::span<const ListLevel> levels, std::uint32_t space) {
  // The one match that a friend has for an entry takes no index.
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

std::optional<PathIndex> QueryBinder::index_of_level(const WrittenName& name, std::size_t level, std::size_t first,
                                                     std::uint32_t space) {
  if (level < first) return PathIndex{PathIndex::Kind::fixed, 0};
  return level - first < name.indices.size() ? path_index(name.indices[level - first], space) : PathIndex();
}

std::optional<std::uint32_t> QueryBinder::fixed_index(Nodes nodes) {
  if (nodes.size() != 1 || nodes[0].kind != Kind::number) return std::nullopt;
  const std::string_view text = nodes[0].text;
  std::uint32_t at = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), at);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(at) : std::nullopt;
}

std::optional<PathIndex> QueryBinder::path_index(Nodes nodes, std::uint32_t space) {
  if (nodes.back().kind == Kind::each) return PathIndex();
  if (const auto at = fixed_index(nodes)) return PathIndex{PathIndex::Kind::fixed, *at};
  const std::uint32_t slot = depth_;
  const auto bound = number(nodes, space);
  if (!bound || !spread(*bound, space, slot)) return std::nullopt;
  computed_.push_back(space);
  return PathIndex{PathIndex::Kind::computed, slot};
}

std::optional<Bound> QueryBinder::load(const WrittenName& name, const NamedColumn& column, std::uint32_t space) {
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

bool QueryBinder::path_of_list(Nodes nodes, std::uint32_t space) {
  const auto name = written_name(nodes);
  const NamedColumn* found = name ? scope_.names.find(name->name) : nullptr;
  if (!found) return false;
  std::vector<ListLevel> levels = found->levels;
  levels.push_back({found->column, 0, false});
  return path(*name, found->column, levels, space).has_value();
}

std::optional<Bound> QueryBinder::size_of_list(Nodes nodes, WrittenName name, std::uint32_t space) {
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

}  // namespace tfilefs
