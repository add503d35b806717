// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tfile {

// Not installed.

// The kinds of numbers with which a formula computes, as in C++: 1/2 is an int and 0, 1/2. is 0.5.
enum class Arithmetic : std::uint8_t { integer, long_integer, floating };

// The functions and constants of formulas, by their names in C or in TFormula.

// The kind of a function's result: floating, int, long, or the kind of its arguments.
enum class Gives : std::uint8_t { floating, integer, long_integer, as_given };

struct Function1 {
  std::string_view name;
  double (*call)(double);
  Gives gives = Gives::floating;
};
struct Function2 {
  std::string_view name;
  double (*call)(double, double);
  Gives gives = Gives::floating;
};
std::span<const Function1> functions_of_one();
std::span<const Function2> functions_of_two();

// C++'s conversion to an int or a long: towards 0. A value out of range gives the smallest number, as on a processor.
double as_integer(double value, Arithmetic kind);

// TFormula's name for a function of TMath; for other names, the name itself.
std::string_view plain_name(std::string_view name);

// TFormula has some constants as names ("pi"), and TMath has all of them as calls ("TMath::Pi()").
struct Constant {
  std::string_view name;  // in TFormula; empty: none
  std::string_view call;  // in TMath; empty: none
  double value;
  Arithmetic kind = Arithmetic::floating;
};
std::span<const Constant> constants();

// Functions of x with parameters of their own, given by the number of the first one: gaus(0), expo(2), pol1(3).
enum class ShapeOf : std::uint32_t { gaus, gausn, expo, pol, chebyshev, landau, landaun, crystalball, breitwigner };
struct Shape {
  std::string_view name;
  ShapeOf kind;
};
std::span<const Shape> shapes();

// `degree`: of a polynomial. Missing parameters are 0.
double shape_value(ShapeOf kind, std::uint32_t degree, double x, std::span<const double> parameters,
                   std::uint32_t first);

// A function of TMath or ROOT::Math that C does not have, by its name without the namespace. Never throws; gives NaN
// outside its domain; takes at most a few hundred operations.
struct SpecialFunction {
  std::string_view name;
  std::size_t least, most;  // number of arguments; omitted ones have default values
  double (*call)(std::span<const double> arguments);
};
std::span<const SpecialFunction> special_functions();

}  // namespace tfile
