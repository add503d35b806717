// SPDX-License-Identifier: Apache-2.0
#include "object/binomial_interval.h"

#include <gtest/gtest.h>

#include <utility>

namespace tfile {
namespace {

constexpr double kLevel = 0.682689492137;

// TEfficiency::ClopperPearson, Normal, Wilson and AgrestiCoull of ROOT 6.40 for 30 of 100.
TEST(BinomialInterval, MethodsOfRoot) {
  struct Case {
    BinomialMethod method;
    double low, high;
  };
  constexpr Case kCases[] = {{BinomialMethod::clopper_pearson, 0.2516299601066, 0.352777648400345},
                             {BinomialMethod::normal, 0.25417424305045, 0.34582575694955},
                             {BinomialMethod::wilson, 0.25633888882529, 0.347621507214313},
                             {BinomialMethod::agresti_coull, 0.25629637740921, 0.347664018630393}};
  for (const Case& expected : kCases) {
    const Interval interval = binomial_interval(30, 100, kLevel, expected.method);
    EXPECT_NEAR(interval.low, expected.low, 1e-9);
    EXPECT_NEAR(interval.high, expected.high, 1e-9);
  }
}

TEST(BinomialInterval, NothingAndAllPassed) {
  EXPECT_EQ(binomial_interval(0, 10, kLevel, BinomialMethod::clopper_pearson).low, 0);
  EXPECT_NEAR(binomial_interval(0, 10, kLevel, BinomialMethod::clopper_pearson).high, 0.168149186137954, 1e-9);
  EXPECT_EQ(binomial_interval(10, 10, kLevel, BinomialMethod::clopper_pearson).high, 1);
}

TEST(BinomialInterval, NonsenseIsEverything) {
  for (const auto& [passed, total] : {std::pair(0.0, 0.0), std::pair(5.0, 3.0), std::pair(-1.0, 2.0)}) {
    const Interval interval = binomial_interval(passed, total, kLevel, BinomialMethod::wilson);
    EXPECT_EQ(interval.low, 0);
    EXPECT_EQ(interval.high, 1);
  }
}

}  // namespace
}  // namespace tfile
