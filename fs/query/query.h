// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/table_names.h"
#include "reply.h"
#include "tfile/table.h"

namespace tfilefs {

struct QueryProgram;

using NamedExpressions = std::vector<std::pair<std::string, std::string>>;

// Whether an expression can have this as a name: letters, digits and '_', not beginning with a digit.
bool is_query_name(std::string_view);

// "NAME=EXPR". Nothing if it is not that: NAME is_query_name(), and EXPR is not empty and does not begin with "=".
std::optional<NamedExpressions::value_type> parse_named_expression(std::string_view);

// The names that expressions may use.
struct QueryScope {
  TableNames names;
  NamedExpressions definitions = {};  // names, and the expressions that they stand for, before those of the table
  bool is_one_file = true;            // else an entry has a number in its file, which is not known here
  std::stop_token stop = {};          // binding is given up: ECANCELED
};

// Expressions of a table, in the notation of TTree::Draw, that go through its entries together: each gives one number
// for each iteration. They are bound once into steps for a stack of vectors. docs/expressions.md says what they mean.
// An expression with a computed index that is none of its list is NaN there, and a cut or weight 0.
// Const and thread-safe.
class Query {
 public:
  // Errors: invalid. The text says what is wrong, and shows where in the expression below a caret (lines end in "\n").
  static Result<Query> bind(const std::vector<std::string>& expressions, const QueryScope&);
  // The same of expressions with colons between them, "y:x", and of cuts and weights behind them.
  static Result<Query> bind(const std::string& expressions, const std::vector<std::string>& cuts, const QueryScope&);
  // The same of a cut alone.
  static Result<Query> bind_cut(const std::string& cut, const QueryScope&);

  // How many numbers there are for each iteration.
  std::size_t outputs() const;
  // The expressions, without the spaces around them.
  const std::string& text(std::size_t output) const;
  // Whether it is one integer of the table, so that ROOT gives its histogram bins of whole numbers.
  bool is_integer(std::size_t output) const;

  // From this entry on, none has an iteration: a column that all of them need is shorter than the table.
  std::int64_t end() const;
  // Whether each entry has exactly one iteration.
  bool is_one_each() const;

  // The columns that are read, each once. Offsets come before what their lists contain.
  struct Input {
    tfile::ColumnId column = 0;
    // The place in inputs() of the offsets whose items these are; -1: an item for each entry that the column has.
    std::int32_t inside = -1;
  };
  const std::vector<Input>& inputs() const;

  const QueryProgram& program() const { return *program_; }

 private:
  explicit Query(std::shared_ptr<const QueryProgram> program) : program_(std::move(program)) {}

  std::shared_ptr<const QueryProgram> program_;
};

// Whether a text is an expression at all, whatever it names. Errors: invalid, as Query::bind.
Result<> check_expression(const std::string&);

// The same message as one line, for a log.
Error on_one_line(Error);

// "MESSAGE\n  EXPRESSION\n    ^\n". Expressions of more than a line are cut.
std::string with_caret(std::string_view message, std::string_view expression, std::size_t at);

}  // namespace tfilefs
