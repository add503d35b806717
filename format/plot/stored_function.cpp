// SPDX-License-Identifier: Apache-2.0
#include "plot/stored_function.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "plot/formula.h"
#include "plot/integral.h"

namespace tfile {
namespace {

using FunctionPtr = std::unique_ptr<StoredFunction>;

constexpr int kCompositionsMax = 4;  // of compositions inside each other
constexpr std::size_t kStoredParametersMax = 1'000, kTermsMax = 100;
constexpr std::int64_t kGridMax = 1'000'000;  // points of a convolution; the default is 10000

std::vector<double> parameters_of(const ObjectMembers& members) {
  for (const char* path : {"fFormula.fClingParameters", "fParams.fParameters", "fParams"}) {
    std::vector<double> found = members.doubles(path);
    if (!found.empty()) return found;
  }
  return {};
}

class FormulaFunction final : public StoredFunction {
 public:
  FormulaFunction(Formula formula, std::vector<double> parameters)
      : formula_(std::move(formula)), steps_(formula_.steps()), parameters_(std::move(parameters)) {}
  double value(double x, Effort& effort) override {
    return effort.spend(steps_) ? formula_.value(x, parameters_) : std::nan("");
  }

 private:
  const Formula formula_;
  const std::uint64_t steps_;
  const std::vector<double> parameters_;
};

// TF12: a function of two variables, with one of them fixed.
class SliceFunction final : public StoredFunction {
 public:
  SliceFunction(Formula formula, std::vector<double> parameters, double other, bool is_of_y)
      : formula_(std::move(formula)),
        steps_(formula_.steps()),
        parameters_(std::move(parameters)),
        other_(other),
        is_of_y_(is_of_y) {}
  double value(double at, Effort& effort) override {
    if (!effort.spend(steps_)) return std::nan("");
    return is_of_y_ ? formula_.value(other_, at, parameters_) : formula_.value(at, other_, parameters_);
  }

 private:
  const Formula formula_;
  const std::uint64_t steps_;
  const std::vector<double> parameters_;
  const double other_;
  const bool is_of_y_;
};

// A function divided by its integral over its own range.
class NormalizedFunction final : public StoredFunction {
 public:
  NormalizedFunction(FunctionPtr function, double low, double high)
      : function_(std::move(function)), low_(low), high_(high) {}
  double value(double x, Effort& effort) override {
    if (!integral_) integral_ = integral([&](double at) { return function_->value(at, effort); }, low_, high_, effort);
    const double own = function_->value(x, effort);
    return *integral_ != 0 ? own / *integral_ : own;
  }

 private:
  const FunctionPtr function_;
  const double low_, high_;
  std::optional<double> integral_;
};

// TF1NormSum.
class SumFunction final : public StoredFunction {
 public:
  struct Term {
    double factor = 0;
    FunctionPtr function;
  };
  explicit SumFunction(std::vector<Term> terms) : terms_(std::move(terms)) {}
  double value(double x, Effort& effort) override {
    double sum = 0;
    for (const Term& term : terms_) sum += term.factor * term.function->value(x, effort);
    return sum;
  }

 private:
  const std::vector<Term> terms_;
};

struct Convolved {
  FunctionPtr first, second;
  double low = 0, high = 1;
};

// TF1Convolution by definition, as an integral over the range.
class ConvolutionIntegral final : public StoredFunction {
 public:
  explicit ConvolutionIntegral(Convolved of) : of_(std::move(of)) {}
  double value(double x, Effort& effort) override {
    const auto product = [&](double at) { return of_.first->value(at, effort) * of_.second->value(x - at, effort); };
    return integral(product, of_.low, of_.high, effort);
  }

 private:
  const Convolved of_;
};

// TF1Convolution by Fourier transforms. Both functions are sampled at the same number of points of the range, the
// second relative to its middle. The transforms are periodic, so what leaves the range at one end returns at the other.
// The sums are computed here directly, only for the points that are needed, with linear interpolation between them.
class CircularConvolution final : public StoredFunction {
 public:
  CircularConvolution(Convolved of, std::size_t points)
      : of_(std::move(of)),
        step_((of_.high - of_.low) / static_cast<double>(points - 1)),
        sums_(points, std::nan("")) {}
  double value(double x, Effort& effort) override {
    if (first_.empty()) sample(effort);
    const double at = (x - of_.low) / step_, last = static_cast<double>(sums_.size() - 2);
    const auto place = static_cast<std::size_t>(std::clamp(std::floor(at), 0.0, last));
    const double from = sum(place, effort), to = sum(place + 1, effort);
    return from + (to - from) * (at - static_cast<double>(place));
  }

 private:
  void sample(Effort& effort) {
    const double middle = (of_.low + of_.high) / 2;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const double x = of_.low + step_ * static_cast<double>(i);
      first_.push_back(of_.first->value(x, effort));
      second_.push_back(of_.second->value(x - middle, effort));
    }
  }
  double sum(std::size_t place, Effort& effort) {
    const std::size_t n = sums_.size(), end = (place + n / 2) % n;
    if (!std::isnan(sums_[place]) || !effort.spend(n / 4 + 1)) return sums_[place];
    double all = 0;
    for (std::size_t k = 0; k <= end; ++k) all += first_[k] * second_[end - k];
    for (std::size_t k = end + 1; k < n; ++k) all += first_[k] * second_[n + end - k];
    return sums_[place] = all * (of_.high - of_.low) / static_cast<double>(n);
  }

  const Convolved of_;
  const double step_;
  std::vector<double> first_, second_;
  std::vector<double> sums_;  // nan: not computed yet
};

// Hands the functions of a composition their parameters, in the composition's order: those after the first `skip`. The
// one called "Constant" gets none, and stays at 1.
class ParameterSharer {
 public:
  ParameterSharer(std::vector<double> all, std::size_t skip) : all_(std::move(all)), next_(skip) {}
  std::vector<double> of(const ObjectMembers& function, std::int64_t constant) {
    std::vector<double> own = parameters_of(function);
    const auto count = std::clamp<std::int64_t>(function.integer("fNpar", 0), 0, kStoredParametersMax);
    own.resize(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      if (i != constant && next_ < all_.size()) own[static_cast<std::size_t>(i)] = all_[next_++];
    }
    return own;
  }

 private:
  const std::vector<double> all_;  // empty: each function keeps its own
  std::size_t next_;
};

Result<FunctionPtr> make(const ObjectMembers&, std::vector<double> parameters, int depth);

Result<FunctionPtr> make_sum(const ObjectMembers& members, std::vector<double> parameters, int depth) {
  const std::size_t count = std::min(members.item_count("fFunctions"), kTermsMax);
  if (count == 0) return fail(ErrorKind::unsupported, "sum has no functions");
  std::vector<double> factors = parameters.empty() ? members.doubles("fCoeffs") : parameters;
  const std::vector<double> constants = members.doubles("fCstIndexes");
  factors.resize(count);
  ParameterSharer sharer(std::move(parameters), count);
  std::vector<SumFunction::Term> terms;
  for (std::size_t i = 0; i < count; ++i) {
    const ObjectMembers part = members.at("fFunctions." + std::to_string(i));
    const double constant = i < constants.size() ? constants[i] : -1;
    TRY(auto function, make(part, sharer.of(part, static_cast<std::int64_t>(constant)), depth));
    terms.push_back({factors[i] * members.number("fScale").value_or(1), std::move(function)});
  }
  return std::make_unique<SumFunction>(std::move(terms));
}

Result<FunctionPtr> make_convolution(const ObjectMembers& members, std::vector<double> parameters, int depth) {
  const ObjectMembers first = members.at("fFunction1"), second = members.at("fFunction2");
  ParameterSharer sharer(std::move(parameters), 0);
  Convolved of;
  of.low = members.number("fXmin").value_or(0);
  of.high = members.number("fXmax").value_or(1);
  if (!(of.low < of.high) || !std::isfinite(of.high - of.low))
    return fail(ErrorKind::unsupported, "convolution over an infinite range");
  TRY(of.first, make(first, sharer.of(first, -1), depth));
  TRY(of.second, make(second, sharer.of(second, members.integer("fCstIndex", -1)), depth));
  if (members.integer("fFlagFFT", 1) == 0) return std::make_unique<ConvolutionIntegral>(std::move(of));
  const auto points = std::clamp<std::int64_t>(members.integer("fNofPoints", 10'000), 2, kGridMax);
  return std::make_unique<CircularConvolution>(std::move(of), static_cast<std::size_t>(points));
}

Result<FunctionPtr> make_composition(const ObjectMembers& members, std::vector<double> parameters, int depth) {
  if (depth >= kCompositionsMax) return fail(ErrorKind::unsupported, "functions are composed too deeply");
  const std::string_view class_name = members.class_name("");
  if (class_name == "TF1NormSum") return make_sum(members, std::move(parameters), depth + 1);
  if (class_name == "TF1Convolution") return make_convolution(members, std::move(parameters), depth + 1);
  return fail(ErrorKind::unsupported, "unsupported composition of functions: " + std::string(class_name));
}

Result<FunctionPtr> make_slice(const ObjectMembers& members) {
  if (members.class_name("fF2").empty()) return fail(ErrorKind::unsupported, "slice of a function that is not stored");
  FormulaOf of = formula_of(members.at("fF2"));
  TRY(Formula formula, Formula::parse(of.text, 2, std::move(of.names)));
  return std::make_unique<SliceFunction>(std::move(formula), std::move(of.parameters),
                                         members.number("fXY").value_or(0), members.integer("fCase", 0) != 0);
}

Result<FunctionPtr> make(const ObjectMembers& members, std::vector<double> parameters, int depth) {
  if (members.class_name("") == "TF12") return make_slice(members);
  FunctionPtr function;
  if (!members.class_name("fComposition").empty()) {
    TRY(function, make_composition(members.at("fComposition"), std::move(parameters), depth));
  } else {
    FormulaOf of = formula_of(members);
    TRY(Formula formula, Formula::parse(of.text, 1, std::move(of.names)));
    function = std::make_unique<FormulaFunction>(std::move(formula), std::move(parameters));
  }
  if (members.integer("fNormalized", 0) == 0) return function;
  return std::make_unique<NormalizedFunction>(std::move(function), members.number("fXmin").value_or(0),
                                              members.number("fXmax").value_or(1));
}

}  // namespace

FormulaOf formula_of(const ObjectMembers& members) {
  FormulaOf f;
  for (const char* path : {"fFormula.fFormula", "fFormula.fTitle", "fTitle"}) {
    f.text = members.text(path);
    if (!f.text.empty()) break;
  }
  f.parameters = parameters_of(members);
  // A formula stores parameters by name, with a number for each name; these may differ from the order of first use.
  const std::size_t count = std::min(members.item_count("fFormula.fParams"), kStoredParametersMax);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string pair = "fFormula.fParams." + std::to_string(i);
    const std::int64_t number = members.integer(pair + ".second", -1);
    if (number < 0 || number >= static_cast<std::int64_t>(kStoredParametersMax)) continue;
    if (f.names.size() <= static_cast<std::size_t>(number)) f.names.resize(static_cast<std::size_t>(number) + 1);
    f.names[static_cast<std::size_t>(number)] = members.text(pair + ".first");
  }
  return f;
}

Result<FunctionPtr> stored_function(const ObjectMembers& members) {
  const std::string_view class_name = members.class_name("");
  if (class_name == "TF1NormSum" || class_name == "TF1Convolution") return make_composition(members, {}, 0);
  return make(members, parameters_of(members), 0);
}

}  // namespace tfile
