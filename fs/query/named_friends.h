// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "query/query.h"
#include "tfile/table.h"

namespace tfilefs {

// What may name columns of friends ("ALIAS.NAME"): expressions, also several with colons between them, and what their
// names stand for.
struct FriendNamingTexts {
  std::vector<std::string> expressions = {};
  NamedExpressions definitions = {};
};

// Which of these aliases are named, in their order. `of`: the table, for what it defines itself. Pure.
std::vector<std::string> friends_named(const FriendNamingTexts&, const tfile::Table& of,
                                       const std::vector<std::string>& aliases);

}  // namespace tfilefs
