// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tfilefs {

// An expression that a user wants tables to be shown with.
struct WantedExpression {
  std::string table;       // its path, or the end of it; "": every table
  std::string name;        // of the column that is defined; "": entries are chosen
  std::string expression;  // docs/expressions.md
  bool is_for(std::string_view path) const;
  std::string option() const;  // as it was given: "define=TABLE:NAME=EXPR", "where=TABLE:EXPR"
};

// How tables are shown: with columns that are defined, and of these the entries that all expressions choose.
struct TableShaping {
  std::vector<WantedExpression> definitions, choices;
  bool is_for(std::string_view path) const;
  // Those that are for none of these tables.
  std::vector<WantedExpression> without_table(const std::vector<std::string>& paths) const;
};

// "[TABLE:]NAME=EXPR" and "[TABLE:]EXPR". "::", and a colon behind anything that is no path, are of the expression.
std::optional<WantedExpression> parse_definition(std::string_view);
std::optional<WantedExpression> parse_choice(std::string_view);

}  // namespace tfilefs
