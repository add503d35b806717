// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "object/formula.h"
#include "object/formula_functions.h"

namespace tfile {
namespace {

using Step = Formula::Step;

// The nesting of parentheses and signs: two per parenthesis. TFormula's compiler accepts 256.
constexpr int kNestingMax = 512;
constexpr std::size_t kOpsMax = 20'000;
constexpr std::uint32_t kParametersMax = 1'000'000, kDegreeMax = 100, kArgumentsMax = 12;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// An operator between two values. A higher level binds more tightly, as in C.
struct Operator {
  std::string_view token;
  Step step;
  int level;
};
constexpr int kLoosest = 1;
// Longer tokens come first, since the first match is taken.
constexpr Operator kOperators[] = {{"||", Step::either, 1},     {"&&", Step::both, 2},
                                   {"|", Step::bits_or, 3},     {"&", Step::bits_and, 4},
                                   {"==", Step::equal, 5},      {"!=", Step::unequal, 5},
                                   {"<<", Step::shift_left, 7}, {">>", Step::shift_right, 7},
                                   {"<=", Step::less_equal, 6}, {">=", Step::greater_equal, 6},
                                   {"<", Step::less, 6},        {">", Step::greater, 6},
                                   {"+", Step::add, 8},         {"-", Step::subtract, 8},
                                   {"*", Step::multiply, 9},    {"/", Step::divide, 9},
                                   {"%", Step::remainder, 9}};

bool is_truth(Step step) {
  switch (step) {
    case Step::less:
    case Step::greater:
    case Step::less_equal:
    case Step::greater_equal:
    case Step::equal:
    case Step::unequal:
    case Step::both:
    case Step::either:
    case Step::no:
      return true;
    default:
      return false;
  }
}
bool needs_integers(Step step) {
  return step == Step::shift_left || step == Step::shift_right || step == Step::bits_and || step == Step::bits_or ||
         step == Step::bits_not;
}

// Recursive descent. ^ is the power and associates to the right. Tracks the kind of each number on the stack, as C++
// does.
class FormulaParser {
 public:
  FormulaParser(std::string_view text, std::size_t variables, std::vector<std::string> names)
      : variables_(variables), names_(std::move(names)) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      const bool is_between_digits =
          c == '\'' && i > 0 && is_digit(text[i - 1]) && i + 1 < text.size() && is_digit(text[i + 1]);
      if (c != ' ' && c != '\t' && c != '\n' && !is_between_digits) text_ += c;
    }
  }

  Result<Formula> parse() {
    if (text_.empty()) return fail(ErrorKind::unsupported, "compiled code without saved points");
    choice();
    if (at_ != text_.size() || failed_ || kinds_.size() != 1)
      return fail(ErrorKind::unsupported, "the formula is not understood: " + text_.substr(0, 200));
    return Formula(std::move(ops_));
  }

 private:
  bool take(std::string_view token) {
    if (failed_ || text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  char next() const { return at(at_); }

  // Adds a step that takes the last `takes` numbers and leaves one.
  void add(const Formula::Op& op, std::size_t takes, Arithmetic gives) {
    if (ops_.size() >= kOpsMax || kinds_.size() < takes) failed_ = true;
    if (failed_) return;
    kinds_.resize(kinds_.size() - takes);
    kinds_.push_back(gives);
    ops_.push_back(op);
  }
  // The kind to which C++ converts the last `count` numbers before it computes with them.
  Arithmetic kind_of_last(std::size_t count) const {
    if (kinds_.size() < count) return Arithmetic::floating;
    return *std::max_element(kinds_.end() - static_cast<std::ptrdiff_t>(count), kinds_.end());
  }
  void compute(Step step, std::size_t takes) {
    const Arithmetic kind = kind_of_last(takes);
    if (needs_integers(step) && kind == Arithmetic::floating) failed_ = true;
    if (step == Step::shift_left || step == Step::shift_right) return shift(step);
    add({step, kind}, takes, is_truth(step) ? Arithmetic::integer : step == Step::power ? Arithmetic::floating : kind);
  }
  // A shift has the kind of its left operand.
  void shift(Step step) {
    if (kinds_.size() < 2) failed_ = true;
    if (failed_) return;
    const Arithmetic kind = kinds_[kinds_.size() - 2];
    add({step, kind}, 2, kind);
  }

  void choice() {
    if (++nesting_ > kNestingMax) failed_ = true;
    if (!failed_) {
      operators(kLoosest);
      if (take("?")) {
        choice();
        if (!take(":")) failed_ = true;
        choice();
        add({Step::choose}, 3, kind_of_last(2));
      }
    }
    --nesting_;
  }

  // Values connected by operators of this level or a higher one.
  void operators(int level) {
    sign();
    for (;;) {
      const auto* const found = std::find_if(std::begin(kOperators), std::end(kOperators), [&](const Operator& o) {
        return text_.compare(at_, o.token.size(), o.token) == 0;
      });
      if (failed_ || found == std::end(kOperators) || found->level < level) return;
      at_ += found->token.size();
      operators(found->level + 1);
      compute(found->step, 2);
    }
  }

  void sign() {
    if (++nesting_ > kNestingMax) failed_ = true;
    static constexpr std::pair<std::string_view, Step> kSigns[] = {
        {"-", Step::negate}, {"!", Step::no}, {"~", Step::bits_not}};
    const auto* const found =
        std::find_if(std::begin(kSigns), std::end(kSigns), [&](const auto& s) { return take(s.first); });
    if (found != std::end(kSigns)) {
      sign();
      compute(found->second, 1);
    } else if (take("+")) {
      sign();
    } else if (!failed_) {
      power();
    }
    --nesting_;
  }
  void power() {
    atom();
    if (!take("^") && !take("**")) return;
    sign();
    compute(Step::power, 2);
  }
  void atom() {
    if (failed_) return;
    if (take("(")) {
      choice();
      if (!take(")")) failed_ = true;
    } else if (take("[")) {
      parameter();
    } else if (is_digit(next()) || next() == '.') {
      number();
    } else if (is_letter(next()) || (take("::") && is_letter(next()))) {
      name();
    } else {
      failed_ = true;
    }
  }

  // As in C: 12, 0x1f and 017 are ints, or longs if too large for an int; 1. and 1e3 are floating.
  void number() {
    const std::size_t digits = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
    const bool is_hex = next() == '0' && digits == at_ + 1 && (at(digits) == 'x' || at(digits) == 'X');
    if (is_hex) return integer(at_ + 2, 16);
    if (digits > at_ && at(digits) != '.' && at(digits) != 'e' && at(digits) != 'E')
      return integer(at_, text_[at_] == '0' ? 8 : 10);
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) failed_ = true;
    at_ = static_cast<std::size_t>(end - text_.data());
    add({Step::constant, Arithmetic::floating, value}, 0, Arithmetic::floating);
  }
  void integer(std::size_t begin, int base) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + begin, text_.data() + text_.size(), value, base);
    if (error != std::errc() || (end != text_.data() + text_.size() && is_digit(*end))) failed_ = true;
    at_ = static_cast<std::size_t>(end - text_.data());
    const bool fits = value <= std::numeric_limits<std::int32_t>::max();
    const Arithmetic kind = fits ? Arithmetic::integer : Arithmetic::long_integer;
    add({Step::constant, kind, static_cast<double>(value)}, 0, kind);
  }

  // [3], [p3]. Other names are numbered in the order of their first use.
  void parameter() {
    const auto end = text_.find(']', at_);
    if (end == text_.npos) {
      failed_ = true;
      return;
    }
    const std::string name = text_.substr(at_, end - at_);
    at_ = end + 1;
    if (const auto given = std::find(names_.begin(), names_.end(), name); given != names_.end())
      return add_parameter(static_cast<std::uint32_t>(given - names_.begin()));
    const std::string_view digits = std::string_view(name).substr(name.starts_with('p') ? 1 : 0);
    std::uint32_t index = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc() || stop != digits.data() + digits.size()) {
      const auto known = std::find(names_.begin(), names_.end(), name);
      index = static_cast<std::uint32_t>(known - names_.begin());
      if (known == names_.end()) names_.push_back(name);
    }
    if (index > kParametersMax) failed_ = true;
    add_parameter(index);
  }
  void add_parameter(std::uint32_t index) {
    add({Step::parameter, Arithmetic::floating, 0, index}, 0, Arithmetic::floating);
  }

  void name() {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_.compare(end, 2, "::") == 0))
      end += text_[end] == ':' ? 2 : 1;
    std::string_view name = std::string_view(text_).substr(at_, end - at_);
    at_ = end;
    for (const std::string_view space : {"std::", "TMath::", "ROOT::Math::"}) {
      if (name.starts_with(space)) name.remove_prefix(space.size());
    }
    name = plain_name(name);
    if (variable(name) || constant(name) || shape(name)) return;
    if (!take("(")) {
      failed_ = true;
      return;
    }
    std::uint32_t arguments = 0;
    if (!take(")")) {
      do {
        choice();
        ++arguments;
      } while (!failed_ && arguments <= kArgumentsMax && take(","));
      if (!take(")")) failed_ = true;
    }
    if (!call(functions_of_one(), Step::call1, name, 1, arguments) &&
        !call(functions_of_two(), Step::call2, name, 2, arguments) && !special(name, arguments))
      failed_ = true;
  }

  template <class Functions>
  bool call(Functions functions, Step step, std::string_view name, std::size_t takes, std::size_t arguments) {
    const auto found = std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.name == name; });
    if (arguments != takes || found == functions.end()) return false;
    const Arithmetic gives = found->gives == Gives::as_given       ? kind_of_last(takes)
                             : found->gives == Gives::integer      ? Arithmetic::integer
                             : found->gives == Gives::long_integer ? Arithmetic::long_integer
                                                                   : Arithmetic::floating;
    add({step, gives, 0, static_cast<std::uint32_t>(found - functions.begin())}, takes, gives);
    return true;
  }

  bool special(std::string_view name, std::uint32_t arguments) {
    const auto all = special_functions();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.name == name; });
    if (found == all.end() || arguments < found->least || arguments > found->most) return false;
    add({Step::call_special, Arithmetic::floating, 0, static_cast<std::uint32_t>(found - all.begin()), arguments},
        arguments, Arithmetic::floating);
    return true;
  }

  bool variable(std::string_view name) {
    if ((name != "x" && (name != "y" || variables_ < 2)) || next() == '(') return false;
    const bool is_second = name == "y" || (variables_ > 1 && take("[1]"));
    if (name == "x" && take("[0]")) {
    }  // x[0] is C's spelling of the same
    add({Step::variable, Arithmetic::floating, 0, is_second ? 1u : 0u}, 0, Arithmetic::floating);
    return true;
  }

  bool constant(std::string_view name) {
    const bool is_call = text_.compare(at_, 2, "()") == 0;
    if (!is_call && next() == '(') return false;
    const auto all = constants();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Constant& c) { return (is_call ? c.call : c.name) == name; });
    if (found == all.end()) return false;
    if (is_call) at_ += 2;
    add({Step::constant, found->kind, found->value}, 0, found->kind);
    return true;
  }

  // gaus(0), gaus([p0],[p1],[p2]), expo, pol3, and xgaus, which ROOT 5 wrote.
  bool shape(std::string_view name) {
    if (name.starts_with('x') && name.size() > 1) name.remove_prefix(1);
    std::string_view stem = name;
    while (!stem.empty() && is_digit(stem.back())) stem.remove_suffix(1);
    const auto all = shapes();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Shape& s) { return s.name == stem; });
    if (found == all.end()) return false;
    const bool has_degree = found->kind == ShapeOf::pol || found->kind == ShapeOf::chebyshev;
    std::uint32_t degree = 0;
    std::from_chars(name.data() + stem.size(), name.data() + name.size(), degree);
    if (has_degree != (stem.size() != name.size()) || degree > kDegreeMax) return false;
    std::uint32_t first = 0;
    if (take("(")) {
      if (take("x,")) {
      }
      if (take("[")) {
        parameter();
        if (!failed_) {
          first = ops_.back().index;
          ops_.pop_back();
          kinds_.pop_back();
        }
        at_ = std::min(text_.find(')', at_), text_.size());
      } else {
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), first);
        if (error == std::errc()) at_ = static_cast<std::size_t>(end - text_.data());
      }
      if (!take(")") || first > kParametersMax) failed_ = true;
    }
    const std::uint32_t kind_and_degree = static_cast<std::uint32_t>(found->kind) | degree << Formula::kShapeBits;
    add({Step::shape, Arithmetic::floating, 0, first, kind_and_degree}, 0, Arithmetic::floating);
    return true;
  }

  std::string text_;
  const std::size_t variables_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  bool failed_ = false;
  std::vector<std::string> names_;
  std::vector<Formula::Op> ops_;
  std::vector<Arithmetic> kinds_;  // of the numbers on the stack after these steps
};

}  // namespace

Result<Formula> Formula::parse(std::string_view text, std::size_t variables, std::vector<std::string> names) {
  return FormulaParser(text, variables, std::move(names)).parse();
}

}  // namespace tfile
