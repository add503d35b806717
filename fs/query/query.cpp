// SPDX-License-Identifier: Apache-2.0
#include "query/query.h"

#include <algorithm>
#include <utility>

#include "query/query_binder.h"

namespace tfilefs {

using tfile::ExpressionNode;
using tfile::fail;

namespace {

constexpr std::size_t kTextMax = 100'000;

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

// The place of each expression in the text: up to the colon behind it.
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
