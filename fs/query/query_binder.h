// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/query_program.h"
#include "query/table_names.h"
#include "query/written_name.h"

namespace tfilefs {

// Makes the steps of expressions: names become the columns of a table, operations and calls the steps that compute
// them. What is wrong in a text is remembered with its place; the functions then return nothing, or false.
class QueryBinder {
 public:
  // The result of a step: numbers of entries, or of the iterations of a space.
  struct Bound {
    std::uint32_t space = kSpaceOfEntries;
  };

  explicit QueryBinder(const QueryScope& scope) : scope_(scope) {
    made_.spaces.resize(2);
    made_.spaces[kSpaceOfOutputs].along = kSpaceOfOutputs;
    made_.entries = std::max<std::int64_t>(0, scope.names.table().entries);
  }

  // A false result leaves a mistake behind.
  bool add_output(ExpressionNodes nodes, std::string_view text, bool is_cut);

  // invalid, with the place in the text; or ECANCELED.
  Error error(std::string_view text) const;
  QueryProgram take() { return std::move(made_); }

 private:
  using Kind = tfile::ExpressionNode::Kind;
  using Nodes = ExpressionNodes;
  using Step = QueryStep::Kind;

  // A part of a text that is not as it must be.
  struct Mistake {
    std::string what;
    std::size_t at = 0;
  };

  std::nullopt_t wrong(const tfile::ExpressionNode& node, std::string what) { return wrong(node.at, std::move(what)); }
  // In a definition, the place of what stands for it.
  std::nullopt_t wrong(std::size_t at, std::string what);

  // ---- steps

  bool add(QueryStep step);
  // Adds a step that takes the last `takes` operands.
  std::optional<Bound> push(QueryStep step, std::uint32_t takes = 0);
  bool spread(Bound bound, std::uint32_t space, std::uint32_t slot);
  // An expression without a list or array of its own, as Alt$(list,0), is one number for the entry.
  bool repeat_first(std::uint32_t slot);
  // Numbers for all iterations of the space. Where a computed index was none of its list, the whole formula has none.
  bool end_formula(Bound bound, std::uint32_t space, std::uint32_t slot);
  std::optional<Bound> constant(double value) { return push({.kind = Step::number, .number = value}); }

  // ---- expressions

  std::optional<Bound> number(Nodes nodes, std::uint32_t space);

  // As TTreeFormula reads it: in double, and 017 is 17.
  std::optional<Bound> literal(const tfile::ExpressionNode& node);

  // Operands in the same space, the one that all of them need. Those behind &&, || and ?: only count where they do in
  // C++.
  std::optional<Bound> together(std::span<const Nodes> operands, std::uint32_t space,
                                tfile::Operator op = tfile::Operator::plus);

  bool hold(std::uint32_t space);
  bool release(Step kind, std::uint32_t space, std::uint32_t slot, std::uint32_t owner);
  // Whether an index may be computed in it.
  bool may_be_lost(Nodes nodes) const;

  std::optional<Bound> operation(Nodes nodes, std::uint32_t space);
  std::optional<Bound> operation_with_number(const tfile::ExpressionNode& node, std::span<const Nodes> operands,
                                             std::uint32_t space);

  // ---- calls

  std::optional<Bound> call(Nodes nodes, std::uint32_t space);

  // Length$(x) and the like: of all iterations that x has alone.
  std::optional<Bound> special(const tfile::ExpressionNode& node, std::span<const Nodes> arguments,
                               std::uint32_t space);
  // The step that makes one number of what was entered there.
  std::optional<Bound> leave(std::size_t entered, QueryStep step, std::uint32_t takes);
  std::optional<Bound> alternate(std::span<const Nodes> arguments, std::uint32_t space);
  // For a text, Length$ asks how many there are.
  std::optional<Bound> number_or_text(Nodes nodes, std::uint32_t space);

  std::uint32_t new_space();

  std::string why_no_function(std::string_view name) const;

  // ---- names

  bool is_column(Nodes nodes, NamedColumn::What what) const;
  bool is_text(Nodes nodes) const;
  // A list or array of characters, without the index of one of them. It is a text where one is wanted.
  bool is_characters(Nodes nodes) const;
  // Lists of characters that are compared with numbers are numbers.
  bool are_texts(std::span<const Nodes> both) const;
  bool is_integer(Nodes nodes) const;

  // ROOT has whole numbers for the sizes of a TClonesArray, and not for those of a vector.
  bool is_size_of_array(const WrittenName& size) const;

  std::optional<Bound> named(Nodes nodes, std::uint32_t space);
  static std::string cannot_be_joined(const std::pair<std::string, std::string>& lost);
  std::nullopt_t not_found(const WrittenName& name);

  // The name is known, and wrong.
  std::optional<std::optional<Bound>> refused(const tfile::ExpressionNode& node, std::string why);

  // The outer optional is empty if the name is none of these.
  std::optional<std::optional<Bound>> counter(const tfile::ExpressionNode& node, std::uint32_t space);

  // The text behind the name: a definition, or an alias of the table. Null: it is neither.
  const std::string* defined(std::string_view name) const;

  std::optional<std::optional<Bound>> definition(const tfile::ExpressionNode& node, const std::string& name,
                                                 std::uint32_t space);

  // ---- columns

  std::uint32_t input(tfile::ColumnId column, std::int32_t inside);
  // The input of offsets that are the last of some lists.
  std::int32_t inputs_of(std::span<const ListLevel> levels);

  // The path of a name with its indices in a space.
  std::optional<std::uint32_t> path(const WrittenName& name, tfile::ColumnId column, std::span<const ListLevel> levels,
                                    std::uint32_t space);
  // `first`: the level that the first of its indices belongs to.
  std::optional<PathIndex> index_of_level(const WrittenName& name, std::size_t level, std::size_t first,
                                          std::uint32_t space);
  // An index that is a number of digits alone; others are computed.
  static std::optional<std::uint32_t> fixed_index(Nodes nodes);
  std::optional<PathIndex> path_index(Nodes nodes, std::uint32_t space);

  std::optional<Bound> load(const WrittenName& name, const NamedColumn& column, std::uint32_t space);

  // ---- lists

  // The path through a list, of which only the size counts.
  bool path_of_list(Nodes nodes, std::uint32_t space);
  // @x.size(): how many elements the outermost list has. Where there is no entry of a friend, there is none of them.
  std::optional<Bound> size_of_list(Nodes nodes, WrittenName name, std::uint32_t space);

  // ---- texts

  std::optional<Bound> texts(Step kind, std::span<const Nodes> operands, std::uint32_t space);
  std::optional<QueryText> text_of(Nodes nodes, std::uint32_t space);

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

}  // namespace tfilefs
