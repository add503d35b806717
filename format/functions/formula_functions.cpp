// SPDX-License-Identifier: Apache-2.0
#include "tfile/formula_functions.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <utility>

namespace tfile {
namespace {

bool is_odd(double x) { return std::fmod(x, 2) != 0; }

constexpr Function1 kFunctions1[] = {
    {"sin", [](double x) { return std::sin(x); }},
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
    {"abs", [](double x) { return std::abs(x); }, Gives::as_given},
    {"fabs", [](double x) { return std::abs(x); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"erfc", [](double x) { return std::erfc(x); }},
    {"tgamma", [](double x) { return std::tgamma(x); }},
    {"Gamma",
     [](double x) {
       const bool is_pole = x <= 0 && x == std::floor(x);
       return is_pole ? std::numeric_limits<double>::infinity() : std::tgamma(x);
     }},
    {"lgamma", [](double x) { return std::lgamma(x); }},
    {"sq", [](double x) { return x * x; }},
    {"exp2", [](double x) { return std::exp2(x); }},
    {"expm1", [](double x) { return std::expm1(x); }},
    {"log1p", [](double x) { return std::log1p(x); }},
    {"round", [](double x) { return std::round(x); }},
    {"trunc", [](double x) { return std::trunc(x); }},
    {"rint", [](double x) { return std::nearbyint(x); }},
    {"nearbyint", [](double x) { return std::nearbyint(x); }},
    {"logb", [](double x) { return std::logb(x); }},
    {"ilogb", [](double x) { return static_cast<double>(std::ilogb(x)); }, Gives::integer},
    {"lrint", [](double x) { return as_integer(std::nearbyint(x), Arithmetic::long_integer); }, Gives::long_integer},
    {"llrint", [](double x) { return as_integer(std::nearbyint(x), Arithmetic::long_integer); }, Gives::long_integer},
    {"llround", [](double x) { return as_integer(std::round(x), Arithmetic::long_integer); }, Gives::long_integer},
    {"lround", [](double x) { return as_integer(std::round(x), Arithmetic::long_integer); }, Gives::long_integer},
    {"Nint", [](double x) { return as_integer(std::nearbyint(x), Arithmetic::integer); }, Gives::integer},
    {"FloorNint", [](double x) { return as_integer(std::floor(x), Arithmetic::integer); }, Gives::integer},
    {"CeilNint", [](double x) { return as_integer(std::ceil(x), Arithmetic::integer); }, Gives::integer},
    // For integers
    {"Odd", [](double x) { return is_odd(as_integer(x, Arithmetic::long_integer)) ? 1.0 : 0.0; }, Gives::integer},
    {"Even", [](double x) { return is_odd(as_integer(x, Arithmetic::long_integer)) ? 0.0 : 1.0; }, Gives::integer},
    {"IsNaN", [](double x) { return std::isnan(x) ? 1.0 : 0.0; }, Gives::integer},
    {"isnan", [](double x) { return std::isnan(x) ? 1.0 : 0.0; }, Gives::integer},
    {"isnormal", [](double x) { return std::isnormal(x) ? 1.0 : 0.0; }, Gives::integer},
    {"isinf", [](double x) { return std::isinf(x) ? 1.0 : 0.0; }, Gives::integer},
    {"Finite", [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }, Gives::integer},
    {"isfinite", [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }, Gives::integer},
    {"SignBit", [](double x) { return std::signbit(x) ? 1.0 : 0.0; }, Gives::integer},
    // C++'s conversions, as they are written in a formula
    {"int", [](double x) { return as_integer(x, Arithmetic::integer); }, Gives::integer},
    {"Int_t", [](double x) { return as_integer(x, Arithmetic::integer); }, Gives::integer},
    {"long", [](double x) { return as_integer(x, Arithmetic::long_integer); }, Gives::long_integer},
    {"Long64_t", [](double x) { return as_integer(x, Arithmetic::long_integer); }, Gives::long_integer},
    {"bool", [](double x) { return x != 0 ? 1.0 : 0.0; }, Gives::integer},
    {"Bool_t", [](double x) { return x != 0 ? 1.0 : 0.0; }, Gives::integer},
    {"float", [](double x) { return static_cast<double>(static_cast<float>(x)); }},
    {"Float_t", [](double x) { return static_cast<double>(static_cast<float>(x)); }},
    {"double", [](double x) { return x; }},
    {"Double_t", [](double x) { return x; }}};

// TMath's names for these functions.
constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {
    {"Sin", "sin"},     {"Cos", "cos"},   {"Tan", "tan"},     {"ASin", "asin"},   {"ACos", "acos"},
    {"ATan", "atan"},   {"SinH", "sinh"}, {"CosH", "cosh"},   {"TanH", "tanh"},   {"Exp", "exp"},
    {"Log", "log"},     {"Log2", "log2"}, {"Log10", "log10"}, {"Sqrt", "sqrt"},   {"Abs", "abs"},
    {"Floor", "floor"}, {"Ceil", "ceil"}, {"Erf", "erf"},     {"Erfc", "erfc"},   {"LnGamma", "lgamma"},
    {"Power", "pow"},   {"Min", "min"},   {"Max", "max"},     {"ATan2", "atan2"}, {"Sign", "sign"},
    {"Hypot", "hypot"}, {"Sq", "sq"},     {"ASinH", "asinh"}, {"ACosH", "acosh"}, {"ATanH", "atanh"},
    {"Ldexp", "ldexp"}};

// TMath::ATan2: where x is 0, of either sign, also without a number y.
double arc_tangent(double y, double x) {
  if (x != 0) return std::atan2(y, x);
  return y == 0 ? 0 : y > 0 ? std::numbers::pi / 2 : -std::numbers::pi / 2;
}

double times_power_of_two(double x, double exponent) {
  return std::ldexp(x, static_cast<int>(as_integer(exponent, Arithmetic::integer)));
}

constexpr Function2 kFunctions2[] = {{"pow", [](double x, double y) { return std::pow(x, y); }},
                                     {"atan2", arc_tangent},
                                     // Without an order, the second.
                                     {"min", [](double x, double y) { return x <= y ? x : y; }, Gives::as_given},
                                     {"max", [](double x, double y) { return x >= y ? x : y; }, Gives::as_given},
                                     {"fmin", [](double x, double y) { return std::fmin(x, y); }},
                                     {"fmax", [](double x, double y) { return std::fmax(x, y); }},
                                     {"fdim", [](double x, double y) { return std::fdim(x, y); }},
                                     {"copysign", [](double x, double y) { return std::copysign(x, y); }},
                                     {"remainder", [](double x, double y) { return std::remainder(x, y); }},
                                     {"nextafter", [](double x, double y) { return std::nextafter(x, y); }},
                                     {"ldexp", times_power_of_two},
                                     {"scalbn", times_power_of_two},
                                     {"fmod", [](double x, double y) { return std::fmod(x, y); }},
                                     {"hypot", [](double x, double y) { return std::hypot(x, y); }},
                                     {"sign", [](double x, double y) { return std::copysign(x, y); }, Gives::as_given}};

// From the CODATA tables in ROOT 6.40, in SI units.
constexpr double kLightSpeed = 299792458, kPlanck = 6.62607015e-34, kBoltzmann = 1.380649e-23,
                 kAvogadro = 6.02214076e23, kGravity = 6.6743e-11, kMolarMassOfAir = 28.9644;
constexpr Constant kConstants[] = {{"pi", "Pi", std::numbers::pi},
                                   {"Pi", "", std::numbers::pi},
                                   {"M_PI", "", std::numbers::pi},
                                   {"", "TwoPi", 2 * std::numbers::pi},
                                   {"", "PiOver2", std::numbers::pi / 2},
                                   {"", "PiOver4", std::numbers::pi / 4},
                                   {"", "InvPi", 1 / std::numbers::pi},
                                   {"", "DegToRad", std::numbers::pi / 180},
                                   {"", "RadToDeg", 180 / std::numbers::pi},
                                   {"e", "E", std::numbers::e},
                                   {"M_E", "", std::numbers::e},
                                   {"sqrt2", "Sqrt2", std::numbers::sqrt2},
                                   {"ln10", "Ln10", std::numbers::ln10},
                                   {"loge", "LogE", std::numbers::log10e},
                                   {"eg", "EulerGamma", std::numbers::egamma},
                                   {"", "Infinity", std::numeric_limits<double>::infinity()},
                                   {"", "SignalingNaN", std::numeric_limits<double>::quiet_NaN()},
                                   {"", "QuietNaN", std::numeric_limits<double>::quiet_NaN()},
                                   {"c", "C", kLightSpeed},
                                   {"", "Ccgs", 100 * kLightSpeed},
                                   {"g", "G", kGravity},
                                   {"", "Gcgs", kGravity * 1000},
                                   {"", "GUncertainty", 0.00015e-11},
                                   {"", "GhbarC", 6.70883e-39},
                                   {"", "GhbarCUncertainty", 0.00015e-39},
                                   {"", "Gn", 9.80665},
                                   {"h", "H", kPlanck},
                                   {"", "Hcgs", 1e7 * kPlanck},
                                   {"", "HC", kPlanck* kLightSpeed},
                                   {"", "HCcgs", (1e7 * kPlanck) * (100 * kLightSpeed)},
                                   {"", "Hbar", 1.054571817e-34},
                                   {"", "Hbarcgs", 1e7 * 1.054571817e-34},
                                   {"k", "K", kBoltzmann},
                                   {"", "Kcgs", 1e7 * kBoltzmann},
                                   {"", "Na", kAvogadro},
                                   {"", "Qe", 1.602176634e-19},
                                   {"sigma", "Sigma", 5.670373e-8},
                                   {"r", "R", kBoltzmann* kAvogadro},
                                   {"", "MWair", kMolarMassOfAir},
                                   {"", "Rgair", (1000 * (kBoltzmann * kAvogadro)) / kMolarMassOfAir},
                                   // Exact, by the definitions of the units.
                                   {"", "CUncertainty", 0},
                                   {"", "GnUncertainty", 0},
                                   {"", "HUncertainty", 0},
                                   {"", "HbarUncertainty", 0},
                                   {"", "KUncertainty", 0},
                                   {"", "NaUncertainty", 0},
                                   {"", "QeUncertainty", 0},
                                   {"", "RUncertainty", 0},
                                   {"", "SigmaUncertainty", 0},
                                   {"true", "", 1, Arithmetic::integer},
                                   {"kTRUE", "", 1, Arithmetic::integer},
                                   {"false", "", 0, Arithmetic::integer},
                                   {"kFALSE", "", 0, Arithmetic::integer}};

constexpr Shape kShapes[] = {{"gaus", ShapeOf::gaus},
                             {"gausn", ShapeOf::gausn},
                             {"expo", ShapeOf::expo},
                             {"pol", ShapeOf::pol},
                             {"cheb", ShapeOf::chebyshev},
                             {"landau", ShapeOf::landau},
                             {"landaun", ShapeOf::landaun},
                             {"crystalball", ShapeOf::crystalball},
                             {"breitwigner", ShapeOf::breitwigner}};
double special_value(std::string_view name, std::initializer_list<double> arguments) {
  const auto all = special_functions();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.name == name; });
  return found->call({arguments.begin(), arguments.size()});
}

}  // namespace

double as_integer(double value, Arithmetic kind) {
  const double least = kind == Arithmetic::integer ? -0x1p31 : -0x1p63;
  const double whole = std::trunc(value) + 0.0;  // no -0
  return whole >= least && whole < -least ? whole : least;
}

std::span<const Function1> functions_of_one() { return kFunctions1; }
std::span<const Function2> functions_of_two() { return kFunctions2; }
std::span<const Constant> constants() { return kConstants; }
std::span<const Shape> shapes() { return kShapes; }

std::string_view plain_name(std::string_view name) {
  for (const auto& [synonym, plain] : kSynonyms) {
    if (name == synonym) return plain;
  }
  return name;
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

}  // namespace tfile
