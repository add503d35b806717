// SPDX-License-Identifier: Apache-2.0
#include "plot/formula.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tfile/formula_functions.h"

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

// The values are those of TTree::Draw of ROOT 6.40.
TEST(Formula, FunctionsOutsideOfTheirDomain) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN(),
                   kInfinite = std::numeric_limits<double>::infinity();
  const std::pair<const char*, double> cases[] = {{"TMath::Odd(x+0.5)", 1},
                                                  {"TMath::Odd(x-0.5)", 0},
                                                  {"TMath::Even(2.7+0*x)", 1},
                                                  {"TMath::Factorial(x-3)", 1},
                                                  {"TMath::Factorial(x+1.7)", 2},
                                                  {"TMath::Binomial(x,2)", kNone},
                                                  {"TMath::Binomial(5.5*x,2)", 10},
                                                  {"TMath::Prob(x,2.7)", 0.60653065971263342},
                                                  {"TMath::Poisson(x-1,-1)", kNone},
                                                  {"TMath::PoissonI(x-1.5,1)", 0.36787944117144233},
                                                  {"TMath::Gamma(x-2)", kInfinite},
                                                  {"TMath::Range(0,2,3*x)", 2},
                                                  {"isnan(x)", 0},
                                                  {"isfinite(x)", 1}};
  for (const auto& [text, expected] : cases) {
    const double found = value(text, 1);
    EXPECT_TRUE(std::isnan(expected) ? std::isnan(found) : std::abs(found - expected) < 1e-12 || found == expected)
        << text << ": " << found;
  }
  const auto near = [](const char* text, double expected) { EXPECT_NEAR(value(text, 1), expected, 1e-8) << text; };
  near("TMath::BesselI(2.7,3*x)", 2.24521243);
  near("TMath::StruveH0(x)", 0.568656627048);
  near("TMath::BetaCf(0.3,2*x,3)", 1.88046647);
}

// The values are those of DLMF's formulas, computed with 30 digits. ROOT 6.40 has nine of those of H beyond 8, and none
// of L0 between 20 and 28.
TEST(Formula, FunctionsOfStruveAreExact) {
  const std::pair<const char*, double> cases[] = {
      {"TMath::StruveH0(0.5+0*x)", 0.3095559145837547}, {"TMath::StruveH0(-3.5*x)", -0.3608207733778295},
      {"TMath::StruveH0(25*x)", -0.1018248201600151},   {"TMath::StruveH0(60*x)", 0.05796634175294518},
      {"TMath::StruveH1(0.5*x)", 0.05217374424234107},  {"TMath::StruveH1(-3.5*x)", 1.091572318284191},
      {"TMath::StruveH1(25*x)", 0.5388036213269295},    {"TMath::StruveH1(60*x)", 0.7286660738055736},
      {"TMath::StruveL0(0.5*x)", 0.3272406993941808},   {"TMath::StruveL0(-3.5*x)", -7.180846515103738},
      {"TMath::StruveL0(25*x)", 5774560606.440804},     {"TMath::StruveL0(60*x)", 5.894077055609801e+24},
      {"TMath::StruveL1(0.5*x)", 0.05394218262352266},  {"TMath::StruveL1(-3.5*x)", 5.629501784243685},
      {"TMath::StruveL1(25*x)", 5657865129.243105},     {"TMath::StruveL1(60*x)", 5.844751588390468e+24}};
  for (const auto& [text, expected] : cases) EXPECT_NEAR(value(text, 1), expected, 2e-14 * std::abs(expected)) << text;
  EXPECT_NEAR(value("TMath::StudentQuantile(0.8*x,2.3)", 1), 1.027315931736938, 1e-12);
  EXPECT_TRUE(std::isinf(value("TMath::StruveL1(-1000*x)", 1)));
  EXPECT_TRUE(std::isnan(value("TMath::StruveH1(0*x/0.)", 1)));
  // A high order ends soon.
  EXPECT_TRUE(std::isinf(value("TMath::BesselK(2000000000,x)", 1)));
}

// The values are from TF1::Eval(6) of ROOT 6.40.
TEST(Formula, IntegersAreThoseOfC) {
  const std::pair<const char*, double> cases[] = {{"7/2+x", 9},
                                                  {"exp(-1/2*((x-3)/2)^2)", 1},
                                                  {"4/3*x", 6},
                                                  {"x^(1/2)", 1},
                                                  {"1/3.", 1 / 3.},
                                                  {"1e3/3", 1e3 / 3},
                                                  {"-7/2", -3},
                                                  {"-7%4/2.", -1.5},
                                                  {"(x>0)/2", 0},
                                                  {"!0/2", 0},
                                                  {"(x&&1)/2", 0},
                                                  {"(x>0?3:2)/2", 1},
                                                  {"(x>0?3:2.)/2", 1.5},
                                                  {"true/2", 0},
                                                  {"int(7.5)/2", 3},
                                                  {"double(1)/2", 0.5},
                                                  {"bool(3)/2", 0},
                                                  {"abs(-7)/2", 3},
                                                  {"fabs(-7)/2", 3.5},
                                                  {"TMath::Max(7,8)/3", 2},
                                                  {"TMath::Min(7,8)/2", 3},
                                                  {"sign(3,-2)/2", -1},
                                                  {"sq(3)/2", 4.5},
                                                  {"pow(7,1)/2", 3.5},
                                                  {"TMath::Nint(7.2)/2", 3},
                                                  {"TMath::Nint(2.5)", 2},
                                                  {"TMath::FloorNint(7.5)/2", 3},
                                                  {"TMath::CeilNint(7.5)/2", 4},
                                                  {"TMath::Odd(3)/2", 0},
                                                  {"0x10/3", 5},
                                                  {"012/3", 3},
                                                  {"3|4", 7},
                                                  {"3&1", 1},
                                                  {"1<<4", 16},
                                                  {"-17>>2", -5},
                                                  {"~1", -2},
                                                  {"1==x<3", 0},
                                                  {"2147483647+1+x", -2147483642},
                                                  {"2147483648*2/3", 1431655765},
                                                  {"65536*65536+x", 6},
                                                  {"4294967296*4294967296+x", 6}};
  for (const auto& [text, expected] : cases) EXPECT_DOUBLE_EQ(value(text, 6), expected) << text;
  EXPECT_FALSE(std::signbit(value("-0", 0)));
  for (const char* undefined : {"1/0", "1%0", "1<<40", "1/0+x"})
    EXPECT_TRUE(std::isnan(value(undefined, 6))) << undefined;
  EXPECT_EQ(value("int(1e300)", 0), -0x1p31);
  EXPECT_EQ(value("-9223372036854775807/-1", 0), -0x1p63);  // a long wraps
  for (const char* wrong : {"x|1", "x<<1", "~x", "08", "1L", "1.f", "0x-5"})
    EXPECT_FALSE(Formula::parse(wrong)) << wrong;
}

TEST(Formula, ConstantsOfRoot) {
  EXPECT_DOUBLE_EQ(value("sqrt2*TMath::Sqrt2()", 0), 2);
  EXPECT_DOUBLE_EQ(value("ln10*loge", 0), 1);
  EXPECT_DOUBLE_EQ(value("c/TMath::C()", 0), 1);
  EXPECT_DOUBLE_EQ(value("TMath::E()/e", 0), 1);
  EXPECT_DOUBLE_EQ(value("r", 0), 8.31446261815324);
  for (const char* wrong : {"infinity", "Sqrt2", "TMath::sqrt2()x", "c()", "TMath::", "TMath::()"})
    EXPECT_FALSE(Formula::parse(wrong)) << wrong;
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
  EXPECT_NEAR(value("landau", 3), 2 * 0.1788541609, 1e-10);  // with parameters 2, 3, 0.5
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
  EXPECT_DOUBLE_EQ(value("gaus(x,[0],[1],[2])+gaus(x,0)+gaus()", 4), 6 * std::exp(-2.0));
  for (const char* wrong :
       {"gaus(x)", "gaus(x,)", "gaus(1.5)", "gaus((0))", "gaus([0],2)", "gaus([0]+1)", "pol2([0],x)"})
    EXPECT_FALSE(Formula::parse(wrong)) << wrong;
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
  const auto within = [](std::size_t depth) { return std::string(depth, '(') + "x" + std::string(depth, ')'); };
  EXPECT_TRUE(Formula::parse(within(256)));  // as ROOT's compiler
  EXPECT_FALSE(Formula::parse(within(257)));
  EXPECT_FALSE(Formula::parse(std::string(100'000, '(')));
  EXPECT_FALSE(Formula::parse(std::string(100'000, '-') + "1"));
}

}  // namespace
}  // namespace tfile
