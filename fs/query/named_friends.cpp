// SPDX-License-Identifier: Apache-2.0
#include "query/named_friends.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "query/query_functions.h"
#include "query/query_program.h"
#include "query/written_name.h"
#include "tfile/expression.h"

namespace tfilefs {
namespace {

bool is_before_dot(std::string_view alias, std::string_view name) {
  return name.size() > alias.size() + 1 && name.starts_with(alias) && name[alias.size()] == '.';
}

// Finds the friends that texts need, and those that the definitions in them do.
class NeededFriends {
 public:
  NeededFriends(const FriendNamingTexts& texts, const tfile::Table& of, const std::vector<std::string>& aliases)
      : aliases_(aliases), names_(of), defined_(texts.definitions), left_(texts.expressions) {
    for (const tfile::TableAlias& each : of.aliases) defined_.emplace_back(each.name, each.expression);
  }

  std::vector<std::string> find() {
    while (!left_.empty()) {
      const std::string text = std::move(left_.back());
      left_.pop_back();
      if (!met_.insert(text).second) continue;
      const auto expressions = tfile::parse_expressions(text, kQueryForm);
      if (!expressions) continue;  // whoever binds it says why
      for (const auto& nodes : *expressions) {
        for (const WrittenName& each : written_names(nodes)) add(each);
      }
    }
    std::vector<std::string> found;
    std::ranges::copy_if(aliases_, std::back_inserter(found),
                         [&](const std::string& each) { return needs_all_ || named_.contains(each); });
    return found;
  }

 private:
  void add(const WrittenName& written) {
    const std::string sized = name_of_sized(written.name);
    const std::string& name = sized.empty() ? written.name : sized;
    bool is_known = name.ends_with('$');
    for (const auto& [defines, expression] : defined_) {
      if (defines != name) continue;
      left_.push_back(expression);
      is_known = true;
    }
    for (const std::string& alias : aliases_) {
      if (!is_before_dot(alias, name)) continue;
      named_.insert(alias);
      is_known = true;
    }
    const bool is_own = is_known || query_function(name, 0) || names_.find(name) || names_.find(written.name);
    needs_all_ = needs_all_ || !is_own;
  }

  const std::vector<std::string>& aliases_;
  const TableNames names_;
  NamedExpressions defined_;
  std::vector<std::string> left_;
  std::set<std::string> named_, met_;
  bool needs_all_ = false;
};

}  // namespace

std::vector<std::string> friends_named(const FriendNamingTexts& texts, const tfile::Table& of,
                                       const std::vector<std::string>& aliases) {
  if (aliases.empty()) return {};
  return NeededFriends(texts, of, aliases).find();
}

}  // namespace tfilefs
