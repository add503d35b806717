// SPDX-License-Identifier: Apache-2.0
#include "query/named_friends.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "query/query_program.h"
#include "tfile/expression.h"

namespace tfilefs {
namespace {

bool is_before_dot(std::string_view alias, std::string_view name) {
  return name.size() > alias.size() + 1 && name.starts_with(alias) && name[alias.size()] == '.';
}

}  // namespace

std::vector<std::string> friends_named(const FriendNamingTexts& texts, const tfile::Table& of,
                                       const std::vector<std::string>& aliases) {
  NamedExpressions defined = texts.definitions;
  for (const tfile::TableAlias& each : of.aliases) defined.emplace_back(each.name, each.expression);
  std::set<std::string> named, met;
  std::vector<std::string> left = texts.expressions;
  while (!left.empty()) {
    const std::string text = std::move(left.back());
    left.pop_back();
    if (!met.insert(text).second) continue;
    const auto expressions = tfile::parse_expressions(text, kQueryForm);
    if (!expressions) continue;  // whoever binds it says why
    for (const auto& nodes : *expressions) {
      for (const tfile::ExpressionNode& node : nodes) {
        const std::string written = tfile::unquoted_name(node.text);
        const std::string_view name = std::string_view(written).substr(written.starts_with('@') ? 1 : 0);
        for (const std::string& alias : aliases) {
          if (is_before_dot(alias, name)) named.insert(alias);
        }
        for (const auto& [defines, expression] : defined) {
          if (node.kind == tfile::ExpressionNode::Kind::name && defines == name) left.push_back(expression);
        }
      }
    }
  }
  std::vector<std::string> found;
  std::ranges::copy_if(aliases, std::back_inserter(found),
                       [&](const std::string& each) { return named.contains(each); });
  return found;
}

}  // namespace tfilefs
