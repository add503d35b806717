// SPDX-License-Identifier: Apache-2.0
#include "tfile/expression.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace tfile {
namespace {

using Kind = ExpressionNode::Kind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool begins_name(char c) { return is_letter(c) || static_cast<unsigned char>(c) >= 0x80 || c == '@'; }
bool is_in_name(char c) { return begins_name(c) || is_digit(c) || c == '.' || c == '$'; }

constexpr char kQuote = '`';

// An operator between two values. A higher level binds more tightly, as in C.
struct Connection {
  std::string_view token;
  Operator op;
  int level;
};
constexpr int kLoosest = 1;
// Longer tokens come first, since the first match is taken.
constexpr Connection kConnections[] = {{"||", Operator::either, 1},     {"&&", Operator::both, 2},
                                       {"|", Operator::bits_or, 3},     {"&", Operator::bits_and, 4},
                                       {"==", Operator::equal, 5},      {"!=", Operator::unequal, 5},
                                       {"<<", Operator::shift_left, 7}, {">>", Operator::shift_right, 7},
                                       {"<=", Operator::less_equal, 6}, {">=", Operator::greater_equal, 6},
                                       {"<", Operator::less, 6},        {">", Operator::greater, 6},
                                       {"+", Operator::add, 8},         {"-", Operator::subtract, 8},
                                       {"*", Operator::multiply, 9},    {"/", Operator::divide, 9},
                                       {"%", Operator::remainder, 9}};
constexpr std::pair<std::string_view, Operator> kSigns[] = {
    {"-", Operator::negate}, {"!", Operator::no}, {"~", Operator::bits_not}, {"+", Operator::plus}};

// Recursive descent. The power associates to the right.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const ExpressionForm& form) : text_(text), form_(form) {}

  Result<std::vector<ExpressionNode>> parse();
  Result<std::vector<std::vector<ExpressionNode>>> parse_several();

 private:
  // The first error counts.
  void give_up(const char* what);
  tl::unexpected<Error> wrong() const;
  bool failed() const { return !wrong_.empty(); }

  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  void skip_spaces();
  bool is_next(std::string_view token) const { return text_.substr(at_).starts_with(token); }
  bool take(std::string_view token);
  void expect(std::string_view token, const char* what);

  // Adds what takes the last `operands` nodes that nothing takes yet. Its text begins at `begin`.
  void add(Kind kind, std::size_t begin, std::string_view text, std::uint32_t operands = 0, Operator op = {});
  void add_operation(std::size_t begin, std::string_view token, std::uint32_t operands, Operator op);
  void nested(void (ExpressionParser::*part)());

  void choice() { nested(&ExpressionParser::choice_inside); }
  void choice_inside();

  // Values connected by operators of this level or a higher one.
  void operators(int level);

  void sign() { nested(&ExpressionParser::sign_inside); }
  void sign_inside();
  void power();
  void atom();

  // As C++'s preprocessor takes a number: whether it is one is for what evaluates it.
  void number();
  void parameter();
  void text();

  // Goes on behind the name that is next.
  std::string_view take_name();
  bool is_quote_next() const { return form_.has_quotes && at(at_) == kQuote; }
  void skip_quoted();

  // A name, what it is called with, its indices, and members of what that gives.
  void named();
  // `of`: how many operands stand before the arguments.
  bool arguments(std::size_t begin, std::string_view name, std::uint32_t of);
  bool indices(std::size_t begin, std::string_view name, std::uint32_t of);

  const std::string_view text_;
  const ExpressionForm form_;
  std::size_t at_ = 0;
  std::size_t nesting_ = 0;
  std::size_t count_ = 0;  // of nodes, also of expressions before this one
  std::string wrong_;      // the first error
  std::size_t wrong_at_ = 0;
  std::vector<ExpressionNode> nodes_;
};

Result<std::vector<ExpressionNode>> ExpressionParser::parse() {
  choice();
  skip_spaces();
  if (at_ != text_.size()) give_up("not part of an expression");
  if (failed()) return wrong();
  return std::move(nodes_);
}

Result<std::vector<std::vector<ExpressionNode>>> ExpressionParser::parse_several() {
  std::vector<std::vector<ExpressionNode>> all;
  do {
    choice();
    skip_spaces();
    all.push_back(std::exchange(nodes_, {}));
  } while (take(":"));
  if (at_ != text_.size()) give_up("not part of an expression");
  if (failed()) return wrong();
  return all;
}

void ExpressionParser::give_up(const char* what) {
  if (failed()) return;
  wrong_ = at_ < text_.size() ? "byte " + std::to_string(at_ + 1) + ", " + std::string(text_.substr(at_, 1))
                              : std::string("the end");
  wrong_ += std::string(": ") + what;
  wrong_at_ = at_;
}

tl::unexpected<Error> ExpressionParser::wrong() const {
  return fail(ErrorKind::unsupported, wrong_, static_cast<std::int64_t>(wrong_at_));
}

void ExpressionParser::skip_spaces() {
  while (at(at_) == ' ') ++at_;
}

bool ExpressionParser::take(std::string_view token) {
  skip_spaces();
  if (failed() || !is_next(token)) return false;
  at_ += token.size();
  return true;
}

void ExpressionParser::expect(std::string_view token, const char* what) {
  if (!take(token)) give_up(what);
}

void ExpressionParser::add(Kind kind, std::size_t begin, std::string_view text, std::uint32_t operands, Operator op) {
  if (++count_ > form_.nodes_max) give_up("too long");
  if (failed()) return;
  ExpressionNode node{kind, op, false, operands, 1, begin, text};
  for (std::uint32_t i = 0; i < operands; ++i) node.size += nodes_[nodes_.size() - node.size].size;
  nodes_.push_back(node);
}

void ExpressionParser::add_operation(std::size_t begin, std::string_view token, std::uint32_t operands, Operator op) {
  add(Kind::operation, begin, token, operands, op);
}

void ExpressionParser::nested(void (ExpressionParser::*part)()) {
  if (++nesting_ > form_.nesting_max) give_up("too deeply nested");
  if (!failed()) (this->*part)();
  --nesting_;
}

void ExpressionParser::choice_inside() {
  operators(kLoosest);
  skip_spaces();
  const std::size_t begin = at_;
  if (!take("?")) return;
  choice();
  expect(":", "expected ':'");
  choice();
  add_operation(begin, text_.substr(begin, 1), 3, Operator::choose);
}

void ExpressionParser::operators(int level) {
  sign();
  for (;;) {
    skip_spaces();
    const auto* const found = std::ranges::find_if(kConnections, [&](const auto& o) { return is_next(o.token); });
    if (failed() || found == std::end(kConnections) || found->level < level) return;
    const std::size_t begin = at_;
    at_ += found->token.size();
    operators(found->level + 1);
    add_operation(begin, found->token, 2, found->op);
  }
}

void ExpressionParser::sign_inside() {
  skip_spaces();
  const std::size_t begin = at_;
  const auto* const found = std::ranges::find_if(kSigns, [&](const auto& s) { return is_next(s.first); });
  if (found == std::end(kSigns)) return power();
  ++at_;
  sign();
  add_operation(begin, found->first, 1, found->second);
}

void ExpressionParser::power() {
  atom();
  skip_spaces();
  const std::size_t begin = at_;
  if (!take("^") && !take("**")) return;
  const std::string_view token = text_.substr(begin, at_ - begin);
  sign();
  add_operation(begin, token, 2, Operator::power);
}

void ExpressionParser::atom() {
  skip_spaces();
  const char next = at(at_);
  if (take("(")) {
    choice();
    expect(")", "expected ')'");
    if (!failed()) nodes_.back().in_parentheses = true;
  } else if (next == '[') {
    parameter();
  } else if (is_digit(next) || (next == '.' && is_digit(at(at_ + 1)))) {
    number();
  } else if (form_.has_texts && next == '"') {
    text();
  } else if (begins_name(next) || is_quote_next() || (is_next("::") && begins_name(at(at_ + 2)))) {
    named();
  } else {
    give_up("expected a number, a name or a parenthesis");
  }
}

void ExpressionParser::number() {
  const std::size_t begin = at_;
  const bool is_hex = is_next("0x") || is_next("0X");
  const auto is_exponent = [&](char c) { return is_hex ? c == 'p' || c == 'P' : c == 'e' || c == 'E'; };
  while (is_digit(at(at_)) || is_letter(at(at_)) || at(at_) == '.') {
    const bool has_sign = is_exponent(at(at_)) && (at(at_ + 1) == '+' || at(at_ + 1) == '-');
    at_ += has_sign ? 2 : 1;
  }
  add(Kind::number, begin, text_.substr(begin, at_ - begin));
}

void ExpressionParser::parameter() {
  const std::size_t begin = ++at_, end = text_.find(']', begin);
  if (end == text_.npos) return give_up("expected ']'");
  at_ = end + 1;
  add(Kind::parameter, begin, text_.substr(begin, end - begin));
}

void ExpressionParser::text() {
  const std::size_t begin = at_ + 1, end = text_.find('"', begin);
  if (end == text_.npos) return give_up("expected '\"' at its end");
  at_ = end + 1;
  add(Kind::text, begin, text_.substr(begin, end - begin));
}

std::string_view ExpressionParser::take_name() {
  const std::size_t begin = at_;
  for (;;) {
    if (failed())
      return {};
    else if (is_quote_next())
      skip_quoted();
    else if (is_next("::"))
      at_ += 2;
    else if (is_in_name(at(at_)) || (form_.colons_in_names && at(at_) == ':'))
      ++at_;
    else
      return text_.substr(begin, at_ - begin);
  }
}

// Two quotes are one in the name.
void ExpressionParser::skip_quoted() {
  std::size_t end = at_;
  do {
    end = text_.find(kQuote, end + 1);
    if (end == text_.npos) return give_up("expected '`' at its end");
    ++end;
  } while (at(end) == kQuote);
  at_ = end;
}

void ExpressionParser::named() {
  std::size_t begin = at_;
  std::string_view name = take_name();
  for (std::uint32_t of = 0; !failed(); of = 1) {
    const bool is_plain = !arguments(begin, name, of) && !indices(begin, name, of);
    if (is_plain) add(of == 0 ? Kind::name : Kind::member, begin, name, of);
    if (is_plain || !is_next(".")) return;
    begin = at_;
    name = take_name();
  }
}

bool ExpressionParser::arguments(std::size_t begin, std::string_view name, std::uint32_t of) {
  if (!take("(")) return false;
  std::uint32_t operands = of;
  if (!take(")")) {
    do {
      choice();
      ++operands;
    } while (take(","));
    expect(")", "expected ',' or ')'");
  }
  add(Kind::call, begin, name, operands);
  return true;
}

bool ExpressionParser::indices(std::size_t begin, std::string_view name, std::uint32_t of) {
  std::uint32_t operands = of;
  while (take("[")) {
    ++operands;
    if (take("]")) {
      add(Kind::each, at_ - 1, {});
      continue;
    }
    choice();
    expect("]", "expected ']'");
  }
  if (operands > of) add(Kind::index, begin, name, operands);
  return operands > of;
}

}  // namespace

std::string unquoted_name(std::string_view written) {
  std::string name;
  bool is_quoted = false;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const bool is_quote = written[i] == kQuote;
    const bool is_double = is_quoted && is_quote && written.substr(i + 1).starts_with(kQuote);
    if (is_quote && !is_double) {
      is_quoted = !is_quoted;
      continue;
    }
    name += written[i];
    if (is_double) ++i;
  }
  return name;
}

std::string quoted_name(std::string_view name) {
  const bool is_plain =
      !name.empty() && begins_name(name[0]) && name.find('@') == name.npos && std::ranges::all_of(name, is_in_name);
  if (is_plain) return std::string(name);
  std::string quoted(1, kQuote);
  for (const char c : name) quoted.append(c == kQuote ? 2 : 1, c);
  return quoted + kQuote;
}

Result<std::vector<ExpressionNode>> parse_expression(std::string_view text, const ExpressionForm& form) {
  return ExpressionParser(text, form).parse();
}

Result<std::vector<std::vector<ExpressionNode>>> parse_expressions(std::string_view text, const ExpressionForm& form) {
  return ExpressionParser(text, form).parse_several();
}

}  // namespace tfile
