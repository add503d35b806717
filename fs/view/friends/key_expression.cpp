// SPDX-License-Identifier: Apache-2.0
#include "view/friends/key_expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace tfilefs {
namespace {

// Longer and deeper than anyone writes; the parser calls itself.
constexpr std::size_t kTextMax = 1000;
constexpr int kNestingMax = 50;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_in_name(char c) { return begins_name(c) || is_digit(c) || c == '.' || c == ':'; }

// For operators of bits: fractions are cut; NaN is the smallest number, and what is beyond the type is its end.
std::int64_t as_bits(long double number) {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr long double kBeyond = 9223372036854775808.0L;  // 2^63
  if (std::isnan(number) || number < -kBeyond) return Limits::min();
  return number >= kBeyond ? Limits::max() : static_cast<std::int64_t>(number);
}

// Of the least number, -1 is no divisor in C++.
std::int64_t remainder_of(std::int64_t a, std::int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

std::int64_t shifted(std::int64_t a, std::int64_t by, bool to_the_left) {
  if (by < 0 || by > 63) return 0;
  return to_the_left ? static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << by) : a >> by;
}

}  // namespace

class KeyExpression::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<KeyExpression> parse() {
    if (text_.size() > kTextMax || !binary(0)) return std::nullopt;
    skip_spaces();
    if (at_ != text_.size()) return std::nullopt;
    return std::move(made_);
  }

 private:
  struct Operator {
    std::string_view text;
    Step step;
  };
  // By how they bind, the loosest first. Of operators that begin alike, the longer comes first.
  static std::span<const Operator> operators(std::size_t level) {
    static constexpr Operator kEither[] = {{"||", Step::either}}, kBoth[] = {{"&&", Step::both}},
                              kOr[] = {{"|", Step::bits_or}}, kAnd[] = {{"&", Step::bits_and}},
                              kEqual[] = {{"==", Step::equal}, {"!=", Step::unequal}},
                              kOrder[] = {{"<=", Step::less_equal},
                                          {">=", Step::greater_equal},
                                          {"<", Step::less},
                                          {">", Step::greater}},
                              kShift[] = {{"<<", Step::shift_left}, {">>", Step::shift_right}},
                              kSum[] = {{"+", Step::add}, {"-", Step::subtract}},
                              kProduct[] = {{"*", Step::multiply}, {"/", Step::divide}, {"%", Step::remainder}};
    static constexpr std::span<const Operator> kLevels[] = {kEither, kBoth,  kOr,  kAnd,    kEqual,
                                                            kOrder,  kShift, kSum, kProduct};
    return level < std::size(kLevels) ? kLevels[level] : std::span<const Operator>();
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(std::string_view wanted) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(wanted)) return false;
    at_ += wanted.size();
    return true;
  }

  // An operator of this level, and not the beginning of a longer one of another.
  const Operator* take_operator(std::size_t level) {
    skip_spaces();
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view longer : {"||", "&&", "<<", ">>"}) {
      if (!rest.starts_with(longer)) continue;
      const auto of_level = operators(level);
      if (std::ranges::find(of_level, longer, &Operator::text) == of_level.end()) return nullptr;
    }
    for (const Operator& each : operators(level))
      if (take(each.text)) return &each;
    return nullptr;
  }

  bool binary(std::size_t level) {
    if (operators(level).empty()) return unary();
    if (!binary(level + 1)) return false;
    while (const Operator* found = take_operator(level)) {
      if (!binary(level + 1)) return false;
      add({found->step});
    }
    return true;
  }

  bool unary() {
    if (++nesting_ > kNestingMax) return false;
    const bool is_negated = take("-"), is_not = !is_negated && take("!");
    bool done = is_negated || is_not ? unary() : power();
    if (done && is_negated) add({Step::negate});
    if (done && is_not) add({Step::no});
    --nesting_;
    return done;
  }

  bool power() {
    if (!operand()) return false;
    if (!take("^")) return true;
    if (!unary()) return false;
    add({Step::power});
    return true;
  }

  bool operand() {
    if (take("(")) return binary(0) && take(")");
    skip_spaces();
    if (at_ == text_.size()) return false;
    if (is_digit(text_[at_]) || text_[at_] == '.') return number();
    return begins_name(text_[at_]) && name();
  }

  bool number() {
    const std::string rest(text_.substr(at_));  // strtold wants its end
    char* end = nullptr;
    const long double number = std::strtold(rest.c_str(), &end);
    const auto length = static_cast<std::size_t>(end - rest.c_str());
    if (length == 0 || (at_ + length < text_.size() && is_in_name(text_[at_ + length]))) return false;
    at_ += length;
    add({Step::number, number});
    return true;
  }

  bool name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (at_ < text_.size() && std::string_view("([$@").find(text_[at_]) != std::string_view::npos) return false;
    const auto known = std::ranges::find(made_.names_, name);
    const auto number = static_cast<std::size_t>(known - made_.names_.begin());
    if (known == made_.names_.end()) made_.names_.push_back(name);
    add({Step::input, 0, number});
    return true;
  }

  void add(Op op) { made_.ops_.push_back(op); }

  const std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  KeyExpression made_;
};

Result<KeyExpression> KeyExpression::parse(std::string_view text) {
  auto parsed = Parser(text).parse();
  if (!parsed) return tfile::fail(ErrorKind::unsupported, "\"" + std::string(text) + "\" is no expression of columns");
  return *std::move(parsed);
}

// As TTreeFormula computes: without integers, except where an operator is one of bits.
long double KeyExpression::computed(Step step, long double a, long double b) {
  switch (step) {
    case Step::power:
      return std::pow(a, b);
    case Step::multiply:
      return a * b;
    case Step::divide:
      return b == 0 ? 0 : a / b;
    case Step::remainder:
      return static_cast<long double>(remainder_of(as_bits(a), as_bits(b)));
    case Step::add:
      return a + b;
    case Step::subtract:
      return a - b;
    case Step::shift_left:
    case Step::shift_right:
      return static_cast<long double>(shifted(as_bits(a), as_bits(b), step == Step::shift_left));
    case Step::less:
      return a < b;
    case Step::greater:
      return a > b;
    case Step::less_equal:
      return a <= b;
    case Step::greater_equal:
      return a >= b;
    case Step::equal:
      return a == b;
    case Step::unequal:
      return a != b;
    case Step::bits_and:
      return static_cast<long double>(as_bits(a) & as_bits(b));
    case Step::bits_or:
      return static_cast<long double>(as_bits(a) | as_bits(b));
    case Step::both:
      return a != 0 && b != 0;
    default:
      return a != 0 || b != 0;
  }
}

long double KeyExpression::value(std::span<const long double> inputs) const {
  std::array<long double, kTextMax> stack;  // more than there are numbers in the text
  std::size_t height = 0;
  for (const Op& op : ops_) {
    switch (op.step) {
      case Step::number:
        stack[height++] = op.number;
        break;
      case Step::input:
        stack[height++] = inputs[op.input];
        break;
      case Step::negate:
        stack[height - 1] = -stack[height - 1];
        break;
      case Step::no:
        stack[height - 1] = stack[height - 1] == 0;
        break;
      default:
        --height;
        stack[height - 1] = computed(op.step, stack[height - 1], stack[height]);
    }
  }
  return stack[0];
}

}  // namespace tfilefs
