// SPDX-License-Identifier: Apache-2.0
#include "object/formula.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <numbers>
#include <string>
#include <utility>

#include "object/special_functions.h"

namespace tfile {
namespace {

constexpr int kNestingMax = 100;
constexpr std::size_t kOpsMax = 20'000;
constexpr std::uint32_t kParametersMax = 1'000'000, kDegreeMax = 100, kArgumentsMax = 12;

struct Function1 {
  std::string_view name;
  double (*call)(double);
};
constexpr Function1 kFunctions1[] = {{"sin", [](double x) { return std::sin(x); }},
                                     {"cos", [](double x) { return std::cos(x); }},
                                     {"tan", [](double x) { return std::tan(x); }},
                                     {"asin", [](double x) { return std::asin(x); }},
                                     {"acos", [](double x) { return std::acos(x); }},
                                     {"atan", [](double x) { return std::atan(x); }},
                                     {"sinh", [](double x) { return std::sinh(x); }},
                                     {"cosh", [](double x) { return std::cosh(x); }},
                                     {"tanh", [](double x) { return std::tanh(x); }},
                                     {"asinh", [](double x) { return std::asinh(x); }},
                                     {"acosh", [](double x) { return std::acosh(x); }},
                                     {"atanh", [](double x) { return std::atanh(x); }},
                                     {"exp", [](double x) { return std::exp(x); }},
                                     {"log", [](double x) { return std::log(x); }},
                                     {"log2", [](double x) { return std::log2(x); }},
                                     {"log10", [](double x) { return std::log10(x); }},
                                     {"sqrt", [](double x) { return std::sqrt(x); }},
                                     {"cbrt", [](double x) { return std::cbrt(x); }},
                                     {"abs", [](double x) { return std::abs(x); }},
                                     {"fabs", [](double x) { return std::abs(x); }},
                                     {"int", [](double x) { return std::trunc(x); }},
                                     {"floor", [](double x) { return std::floor(x); }},
                                     {"ceil", [](double x) { return std::ceil(x); }},
                                     {"erf", [](double x) { return std::erf(x); }},
                                     {"erfc", [](double x) { return std::erfc(x); }},
                                     {"tgamma", [](double x) { return std::tgamma(x); }},
                                     {"lgamma", [](double x) { return std::lgamma(x); }},
                                     {"sq", [](double x) { return x * x; }},
                                     {"sign", [](double x) { return x < 0   ? -1.0
                                                                    : x > 0 ? 1.0
                                                                            : 0.0; }}};

// TMath's names of those.
constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {
    {"Sin", "sin"},        {"Cos", "cos"},     {"Tan", "tan"},     {"ASin", "asin"}, {"ACos", "acos"},
    {"ATan", "atan"},      {"SinH", "sinh"},   {"CosH", "cosh"},   {"TanH", "tanh"}, {"Exp", "exp"},
    {"Log", "log"},        {"Log2", "log2"},   {"Log10", "log10"}, {"Sqrt", "sqrt"}, {"Abs", "abs"},
    {"Floor", "floor"},    {"Ceil", "ceil"},   {"Erf", "erf"},     {"Erfc", "erfc"}, {"Gamma", "tgamma"},
    {"LnGamma", "lgamma"}, {"Power", "pow"},   {"Min", "min"},     {"Max", "max"},   {"ATan2", "atan2"},
    {"Sign", "sign"},      {"Hypot", "hypot"}, {"Sq", "sq"}};

struct Function2 {
  std::string_view name;
  double (*call)(double, double);
};
constexpr Function2 kFunctions2[] = {{"pow", [](double x, double y) { return std::pow(x, y); }},
                                     {"atan2", [](double x, double y) { return std::atan2(x, y); }},
                                     {"min", [](double x, double y) { return std::min(x, y); }},
                                     {"max", [](double x, double y) { return std::max(x, y); }},
                                     {"fmod", [](double x, double y) { return std::fmod(x, y); }},
                                     {"hypot", [](double x, double y) { return std::hypot(x, y); }}};

// Functions of x with parameters of their own, by their first one: gaus(0), expo(2), pol1(3).
enum class ShapeOf : std::uint32_t { gaus, gausn, expo, pol, chebyshev, landau, landaun, crystalball, breitwigner };
struct Shape {
  std::string_view name;
  ShapeOf kind;
};
constexpr Shape kShapes[] = {{"gaus", ShapeOf::gaus},
                             {"gausn", ShapeOf::gausn},
                             {"expo", ShapeOf::expo},
                             {"pol", ShapeOf::pol},
                             {"cheb", ShapeOf::chebyshev},
                             {"landau", ShapeOf::landau},
                             {"landaun", ShapeOf::landaun},
                             {"crystalball", ShapeOf::crystalball},
                             {"breitwigner", ShapeOf::breitwigner}};
constexpr std::uint32_t kShapeBits = 8;  // of Op::extra; the degree lies above

double special_value(std::string_view name, std::initializer_list<double> arguments) {
  const auto all = special_functions();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.name == name; });
  return found->call({arguments.begin(), arguments.size()});
}

double shape_value(ShapeOf kind, std::uint32_t degree, double x, std::span<const double> all, std::uint32_t first) {
  const auto p = [&](std::uint32_t i) { return first + i < all.size() ? all[first + i] : 0.0; };
  switch (kind) {
    case ShapeOf::gaus:
    case ShapeOf::gausn: {
      if (p(2) == 0) return 0;
      const double pull = (x - p(1)) / p(2);
      const double norm = kind == ShapeOf::gausn ? std::sqrt(2 * std::numbers::pi) * p(2) : 1;
      return p(0) * std::exp(-pull * pull / 2) / norm;
    }
    case ShapeOf::landau:
    case ShapeOf::landaun:
      return p(0) * special_value("Landau", {x, p(1), p(2), kind == ShapeOf::landaun ? 1.0 : 0.0});
    case ShapeOf::crystalball:
      return p(0) * special_value("crystalball_function", {x, p(3), p(4), p(2), p(1)});
    case ShapeOf::breitwigner:
      return p(0) * special_value("breitwigner_pdf", {x, p(2), p(1)});
    case ShapeOf::expo:
      return std::exp(p(0) + p(1) * x);
    case ShapeOf::pol: {
      double value = 0;
      for (std::uint32_t i = degree + 1; i-- > 0;) value = value * x + p(i);
      return value;
    }
    case ShapeOf::chebyshev: {
      double before = 1, now = x, value = p(0) + (degree > 0 ? p(1) * x : 0);
      for (std::uint32_t i = 2; i <= degree; ++i) {
        const double next = 2 * x * now - before;
        value += p(i) * next;
        before = std::exchange(now, next);
      }
      return value;
    }
  }
  return 0;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

// Recursive descent, a function for each level of precedence, as in C; ^ is the power and binds to the right.
class FormulaParser {
 public:
  FormulaParser(std::string_view text, std::size_t variables, std::vector<std::string> names)
      : variables_(variables), names_(std::move(names)) {
    for (const char c : text) {
      if (c != ' ' && c != '\t' && c != '\n') text_ += c;
    }
  }

  Result<Formula> parse() {
    if (text_.empty()) return fail(ErrorKind::unsupported, "compiled code without saved points");
    choice();
    if (at_ != text_.size() || failed_ || formula_.ops_.empty())
      return fail(ErrorKind::unsupported, "the formula is not understood: " + text_.substr(0, 200));
    return std::move(formula_);
  }

 private:
  using Step = Formula::Step;

  bool take(std::string_view token) {
    if (failed_ || text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void add(Step step, double number = 0, std::uint32_t index = 0, std::uint32_t extra = 0) {
    if (formula_.ops_.size() >= kOpsMax)
      failed_ = true;
    else
      formula_.ops_.push_back({step, number, index, extra});
  }

  void choice() {
    if (++nesting_ > kNestingMax) failed_ = true;
    if (!failed_) {
      disjunction();
      if (take("?")) {
        choice();
        if (!take(":")) failed_ = true;
        choice();
        add(Step::choose);
      }
    }
    --nesting_;
  }
  void disjunction() {
    conjunction();
    while (take("||")) {
      conjunction();
      add(Step::either);
    }
  }
  void conjunction() {
    comparison();
    while (take("&&")) {
      comparison();
      add(Step::both);
    }
  }
  void comparison() {
    sum();
    for (;;) {
      static constexpr std::pair<std::string_view, Step> kSigns[] = {
          {"<=", Step::less_equal}, {">=", Step::greater_equal}, {"==", Step::equal},
          {"!=", Step::unequal},    {"<", Step::less},           {">", Step::greater}};
      const auto sign =
          std::find_if(std::begin(kSigns), std::end(kSigns), [&](const auto& s) { return take(s.first); });
      if (sign == std::end(kSigns)) return;
      sum();
      add(sign->second);
    }
  }
  void sum() {
    product();
    for (;;) {
      if (take("+"))
        product(), add(Step::add);
      else if (take("-"))
        product(), add(Step::subtract);
      else
        return;
    }
  }
  void product() {
    sign();
    for (;;) {
      if (take("*"))
        sign(), add(Step::multiply);
      else if (take("/"))
        sign(), add(Step::divide);
      else if (take("%"))
        sign(), add(Step::remainder);
      else
        return;
    }
  }
  void sign() {
    if (++nesting_ > kNestingMax) failed_ = true;
    if (failed_) {
    } else if (take("-")) {
      sign();
      add(Step::negate);
    } else if (take("+")) {
      sign();
    } else if (next() == '!') {
      ++at_;
      sign();
      add(Step::no);
    } else {
      power();
    }
    --nesting_;
  }
  void power() {
    atom();
    if (!take("^") && !take("**")) return;
    sign();
    add(Step::power);
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
    } else if (is_letter(next())) {
      name();
    } else {
      failed_ = true;
    }
  }

  void number() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) failed_ = true;
    at_ += static_cast<std::size_t>(end - begin);
    add(Step::constant, value);
  }

  // [3], [p3]; other names count in the order in which they are met first.
  void parameter() {
    const auto end = text_.find(']', at_);
    if (end == text_.npos) {
      failed_ = true;
      return;
    }
    const std::string name = text_.substr(at_, end - at_);
    at_ = end + 1;
    if (const auto given = std::find(names_.begin(), names_.end(), name); given != names_.end())
      return add(Step::parameter, 0, static_cast<std::uint32_t>(given - names_.begin()));
    const std::string_view digits = std::string_view(name).substr(name.starts_with('p') ? 1 : 0);
    std::uint32_t index = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc() || stop != digits.data() + digits.size()) {
      const auto known = std::find(names_.begin(), names_.end(), name);
      index = static_cast<std::uint32_t>(known - names_.begin());
      if (known == names_.end()) names_.push_back(name);
    }
    if (index > kParametersMax) failed_ = true;
    add(Step::parameter, 0, index);
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
    for (const auto& [synonym, plain] : kSynonyms) {
      if (name == synonym) name = plain;
    }
    if (constant(name) || shape(name)) return;
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
    const auto call = [&](const auto& functions, Step step, std::uint32_t count) {
      const auto found =
          std::find_if(std::begin(functions), std::end(functions), [&](const auto& f) { return f.name == name; });
      if (arguments != count || found == std::end(functions)) return false;
      add(step, 0, static_cast<std::uint32_t>(found - std::begin(functions)));
      return true;
    };
    if (!call(kFunctions1, Step::call1, 1) && !call(kFunctions2, Step::call2, 2) && !special(name, arguments))
      failed_ = true;
  }

  bool special(std::string_view name, std::uint32_t arguments) {
    const auto all = special_functions();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.name == name; });
    if (found == all.end() || arguments < found->least || arguments > found->most) return false;
    add(Step::call_special, 0, static_cast<std::uint32_t>(found - all.begin()), arguments);
    return true;
  }

  bool constant(std::string_view name) {
    const bool is_call = next() == '(';
    if ((name == "x" || (name == "y" && variables_ > 1)) && !is_call) {
      const bool is_second = name == "y" || (variables_ > 1 && take("[1]"));
      if (name == "x" && take("[0]")) {
      }  // C's spelling of the same
      add(Step::variable, 0, is_second ? 1 : 0);
      return true;
    }
    if (name == "pi" || name == "Pi") {
      take("()");
      add(Step::constant, std::numbers::pi);
      return true;
    }
    if ((name == "true" || name == "kTRUE" || name == "false" || name == "kFALSE") && !is_call) {
      add(Step::constant, name == "true" || name == "kTRUE" ? 1 : 0);
      return true;
    }
    if (name == "e" && !is_call) {
      add(Step::constant, std::numbers::e);
      return true;
    }
    return false;
  }

  // gaus(0), gaus([p0],[p1],[p2]), expo, pol3, and xgaus, as ROOT 5 wrote it.
  bool shape(std::string_view name) {
    if (name.starts_with('x') && name.size() > 1) name.remove_prefix(1);
    std::string_view stem = name;
    while (!stem.empty() && is_digit(stem.back())) stem.remove_suffix(1);
    const auto found =
        std::find_if(std::begin(kShapes), std::end(kShapes), [&](const Shape& s) { return s.name == stem; });
    if (found == std::end(kShapes)) return false;
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
          first = formula_.ops_.back().index;
          formula_.ops_.pop_back();
        }
        at_ = std::min(text_.find(')', at_), text_.size());
      } else {
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), first);
        if (error == std::errc()) at_ = static_cast<std::size_t>(end - text_.data());
      }
      if (!take(")") || first > kParametersMax) failed_ = true;
    }
    add(Step::shape, 0, first, static_cast<std::uint32_t>(found->kind) | degree << kShapeBits);
    return true;
  }

  std::string text_;
  const std::size_t variables_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  bool failed_ = false;
  std::vector<std::string> names_;
  Formula formula_;
};

Result<Formula> Formula::parse(std::string_view text, std::size_t variables, std::vector<std::string> names) {
  return FormulaParser(text, variables, std::move(names)).parse();
}

std::uint64_t Formula::steps() const {
  constexpr std::uint64_t kCall = 10;      // of the mathematical library, in simple ones
  constexpr std::uint64_t kSpecial = 100;  // some calls and polynomials each
  std::uint64_t steps = 0;
  for (const Op& op : ops_) {
    const bool calls = op.step == Step::call1 || op.step == Step::call2 || op.step == Step::power ||
                       op.step == Step::remainder || op.step == Step::shape;
    steps += calls ? kCall : 1;
    if (op.step == Step::call_special) steps += kSpecial;
    if (op.step == Step::shape) steps += op.extra >> kShapeBits;
  }
  return steps;
}

double Formula::value(double x, double y, std::span<const double> parameters) const {
  std::vector<double> stack;
  const auto pop = [&] {
    const double top = stack.back();
    stack.pop_back();
    return top;
  };
  // The parser leaves as many numbers on the stack as each step takes.
  for (const Op& op : ops_) {
    switch (op.step) {
      case Step::constant:
        stack.push_back(op.number);
        continue;
      case Step::variable:
        stack.push_back(op.index == 0 ? x : y);
        continue;
      case Step::parameter:
        stack.push_back(op.index < parameters.size() ? parameters[op.index] : 0);
        continue;
      case Step::negate:
        stack.back() = -stack.back();
        continue;
      case Step::no:
        stack.back() = stack.back() == 0;
        continue;
      case Step::call1:
        stack.back() = kFunctions1[op.index].call(stack.back());
        continue;
      case Step::shape:
        stack.push_back(shape_value(static_cast<ShapeOf>(op.extra & ((1u << kShapeBits) - 1)), op.extra >> kShapeBits,
                                    x, parameters, op.index));
        continue;
      case Step::call_special: {
        const std::size_t first = stack.size() - op.extra;
        const double value = special_functions()[op.index].call({stack.data() + first, op.extra});
        stack.resize(first);
        stack.push_back(value);
        continue;
      }
      case Step::choose: {
        const double otherwise = pop(), then = pop();
        stack.back() = stack.back() != 0 ? then : otherwise;
        continue;
      }
      default:
        break;
    }
    const double right = pop();
    double& left = stack.back();
    switch (op.step) {
      case Step::add:
        left += right;
        break;
      case Step::subtract:
        left -= right;
        break;
      case Step::multiply:
        left *= right;
        break;
      case Step::divide:
        left /= right;
        break;
      case Step::power:
        left = std::pow(left, right);
        break;
      case Step::remainder:
        left = std::fmod(left, right);
        break;
      case Step::less:
        left = left < right;
        break;
      case Step::greater:
        left = left > right;
        break;
      case Step::less_equal:
        left = left <= right;
        break;
      case Step::greater_equal:
        left = left >= right;
        break;
      case Step::equal:
        left = left == right;
        break;
      case Step::unequal:
        left = left != right;
        break;
      case Step::both:
        left = left != 0 && right != 0;
        break;
      case Step::either:
        left = left != 0 || right != 0;
        break;
      case Step::call2:
        left = kFunctions2[op.index].call(left, right);
        break;
      default:
        break;
    }
  }
  return stack.empty() ? 0 : stack.back();
}

}  // namespace tfile
