// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "query/query.h"
#include "tfile/table.h"

namespace tfilefs {

// Texts that may name columns of friends: expressions, also with colons between them, and what their names stand for.
struct FriendNamingTexts {
  std::vector<std::string> expressions = {};
  NamedExpressions definitions = {};
};

// The named ones of these aliases, in their order: as "ALIAS.NAME", or all of them if a name is none of the table's
// own, as of several friends the first has it. Pure.
std::vector<std::string> friends_named(const FriendNamingTexts&, const tfile::Table& of,
                                       const std::vector<std::string>& aliases);

}  // namespace tfilefs
