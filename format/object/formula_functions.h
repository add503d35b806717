// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "object/formula.h"

namespace tfile {

// The functions and constants that a formula can name, by their names in C or in TFormula.

// What a function gives: a floating number, an int, or the kind of number its arguments have.
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

// As C++ converts to an int or a long: towards 0; the least one for what it cannot hold, as processors have it.
double as_integer(double value, Arithmetic kind);

// TFormula's name of a function of TMath; else the name itself.
std::string_view plain_name(std::string_view name);

// TFormula writes some constants as names ("pi"), TMath all of them as calls ("TMath::Pi()").
struct Constant {
  std::string_view name;  // in TFormula; empty: it has none
  std::string_view call;  // in TMath; empty: it has none
  double value;
  Arithmetic kind = Arithmetic::floating;
};
std::span<const Constant> constants();

// Functions of x with parameters of their own, by their first one: gaus(0), expo(2), pol1(3).
enum class ShapeOf : std::uint32_t { gaus, gausn, expo, pol, chebyshev, landau, landaun, crystalball, breitwigner };
struct Shape {
  std::string_view name;
  ShapeOf kind;
};
std::span<const Shape> shapes();

// `degree`: of a polynomial. Parameters that are missing are 0.
double shape_value(ShapeOf kind, std::uint32_t degree, double x, std::span<const double> parameters,
                   std::uint32_t first);

}  // namespace tfile
