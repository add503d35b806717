// SPDX-License-Identifier: Apache-2.0
#include "object/formula.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "object/special_functions.h"

namespace tfile {
namespace {

double value(std::string_view text, double x) {
  constexpr std::array parameters{2.0, 3.0, 0.5, 7.0};
  const auto formula = Formula::parse(text);
  EXPECT_TRUE(formula) << text;
  return formula ? formula->value(x, parameters) : 0;
}

TEST(Formula, Precedence) {
  EXPECT_EQ(value("1+2*3^2", 0), 19);
  EXPECT_EQ(value("-2^2", 0), -4);
  EXPECT_EQ(value("2^3^2", 0), 512);
  EXPECT_EQ(value("(1+2)*3-4/2", 0), 7);
  EXPECT_EQ(value("7%4", 0), 3);
  EXPECT_EQ(value("1e-1*x", 5), 0.5);
}

TEST(Formula, StepsGrowWithWhatAValueTakes) {
  const auto steps = [](std::string_view text) { return Formula::parse(text)->steps(); };
  EXPECT_LT(steps("x"), steps("x+x+x"));
  EXPECT_LT(steps("x+x+x"), steps("sin(x)"));
  EXPECT_LT(steps("pol1"), steps("pol90"));
}

TEST(Formula, ParametersByNumberAndName) {
  EXPECT_EQ(value("[0]+[1]*x", 10), 32);
  EXPECT_EQ(value("[p0]+[p1]*x", 10), 32);
  EXPECT_EQ(value("[Constant]+[Slope]*x", 10), 32);
  EXPECT_EQ(value("[9]", 1), 0);
}

TEST(Formula, ParametersByGivenNumbers) {
  constexpr std::array parameters{2.0, 3.0, 0.5};
  const auto named = Formula::parse("[Alpha]+10*[Mean]+100*[Constant]", 1, {"Constant", "Mean", "Alpha"});
  ASSERT_TRUE(named);
  EXPECT_DOUBLE_EQ(named->value(0, parameters), 230.5);
}

TEST(Formula, FunctionsOfSeveralArguments) {
  EXPECT_NEAR(value("TMath::Gaus(x,1,2)", 3), std::exp(-0.5), 1e-12);
  EXPECT_NEAR(value("TMath::Gaus(x,1,2,true)*2*sqrt(2*pi)", 3), std::exp(-0.5), 1e-12);
  EXPECT_NEAR(value("TMath::BreitWigner(x,1,2)", 1), 1 / std::acos(-1.0), 1e-12);
  EXPECT_NEAR(value("TMath::Landau(x,0,1)", 0), 0.1788541609, 1e-10);
  EXPECT_NEAR(value("ROOT::Math::Chebyshev2(x,1,2,3)", 0.5), 1 + 1 - 1.5, 1e-12);
  EXPECT_NEAR(value("landau", 3), 2 * 0.1788541609, 1e-10);  // of parameters 2, 3, 0.5
  for (const char* wrong :
       {"TMath::Gaus()", "TMath::Landau(x,1,1,1,1)", "TMath::Voigt(x)", "BreitWigner(x,1,2,3)", "TMath::Nothing(x,1)",
        "sin(x,1)", "pow(x)", "TMath::Gaus(x,1,2", "f(1,2,3,4,5,6,7,8,9,10,11,12,13,14)"})
    EXPECT_FALSE(Formula::parse(wrong)) << wrong;
}

TEST(Formula, SpecialFunctionsTakeAnyNumbers) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const SpecialFunction& function : special_functions()) {
    for (std::size_t count = function.least; count <= function.most; ++count) {
      for (const double number : {0.0, -1.0, 1e308, -1e308, 5e-324, kInf, -kInf, std::nan("")})
        static_cast<void>(function.call(std::vector<double>(count, number)));
    }
  }
}

TEST(Formula, FunctionsOfCAndRoot) {
  EXPECT_DOUBLE_EQ(value("exp(-0.5*((x-[1])/[2])**2)", 4), std::exp(-2.0));
  EXPECT_DOUBLE_EQ(value("TMath::Power(x,2)+std::sqrt(x)", 4), 18);
  EXPECT_DOUBLE_EQ(value("TMath::Pi()+pi", 0), 2 * std::acos(-1.0));
  EXPECT_DOUBLE_EQ(value("max(x,3)", 1), 3);
  EXPECT_DOUBLE_EQ(value("TMath::Sq(x)", 3), 9);
}

TEST(Formula, ShapesWithParametersOfTheirOwn) {
  EXPECT_DOUBLE_EQ(value("gaus(0)", 4), 2 * std::exp(-2.0));
  EXPECT_DOUBLE_EQ(value("gaus", 3), 2);
  EXPECT_DOUBLE_EQ(value("expo(1)", 2), std::exp(3 + 0.5 * 2));
  EXPECT_DOUBLE_EQ(value("pol2(0)", 2), 2 + 3 * 2 + 0.5 * 4);
  EXPECT_DOUBLE_EQ(value("cheb2(0)", 2), 2 + 3 * 2 + 0.5 * 7);
}

TEST(Formula, Conditions) {
  EXPECT_EQ(value("x>2 ? x : -x", 3), 3);
  EXPECT_EQ(value("x>2 ? x : -x", 1), -1);
  EXPECT_EQ(value("(x>=1)*(x<=2)*5", 1.5), 5);
  EXPECT_EQ(value("x<1 || x==4 && !(x!=4)", 4), 1);
}

TEST(Formula, WhatIsNotUnderstoodIsRefused) {
  for (const std::string text : {"", "x+", "(x", "foo(x)", "x)", "[0", "x?1", "system(\"ls\")", "pow(1)", "sin(1,2)"})
    EXPECT_FALSE(Formula::parse(text)) << text;
  EXPECT_FALSE(Formula::parse(std::string(100'000, '(')));
  EXPECT_FALSE(Formula::parse(std::string(100'000, '-') + "1"));
}

}  // namespace
}  // namespace tfile
