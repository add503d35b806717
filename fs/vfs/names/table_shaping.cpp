// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/table_shaping.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "query/query.h"

namespace tfilefs {
namespace {

// Takes "TABLE:" from the beginning of a text.
std::string take_table(std::string_view& text) {
  constexpr std::string_view kOfExpressions = "?<>=!&|()[]+*%^\"'` ";
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || text.substr(colon + 1).starts_with(':')) return "";
  const std::string_view table = text.substr(0, colon);
  if (table.find_first_of(kOfExpressions) != std::string_view::npos) return "";
  text.remove_prefix(colon + 1);
  return std::string(table);
}

}  // namespace

bool WantedExpression::is_for(std::string_view path) const {
  if (table.empty()) return true;
  if (!path.ends_with(table)) return false;
  const std::size_t before = path.size() - table.size();
  return before == 0 || path[before - 1] == '/';
}

std::string WantedExpression::option() const {
  const std::string of = table.empty() ? "" : table + ":";
  return name.empty() ? "where=" + of + expression : "define=" + of + name + "=" + expression;
}

std::vector<WantedExpression> TableShaping::without_table(const std::vector<std::string>& paths) const {
  std::vector<WantedExpression> found;
  const auto is_for_none = [&paths](const WantedExpression& each) {
    return std::ranges::none_of(paths, [&each](const std::string& path) { return each.is_for(path); });
  };
  std::ranges::copy_if(definitions, std::back_inserter(found), is_for_none);
  std::ranges::copy_if(choices, std::back_inserter(found), is_for_none);
  return found;
}

bool TableShaping::is_for(std::string_view path) const {
  const auto concerns = [path](const WantedExpression& each) { return each.is_for(path); };
  return std::ranges::any_of(definitions, concerns) || std::ranges::any_of(choices, concerns);
}

std::optional<WantedExpression> parse_definition(std::string_view text) {
  std::string table = take_table(text);
  auto named = parse_named_expression(text);
  if (!named) return std::nullopt;
  return WantedExpression{std::move(table), std::move(named->first), std::move(named->second)};
}

std::optional<WantedExpression> parse_choice(std::string_view text) {
  WantedExpression made{take_table(text), "", std::string(text)};
  return made.expression.empty() ? std::nullopt : std::optional(std::move(made));
}

}  // namespace tfilefs
