// SPDX-License-Identifier: Apache-2.0
#include "object/binomial_interval.h"

#include <gtest/gtest.h>

#include <utility>

namespace tfile {
namespace {

constexpr double kLevel = 0.682689492137;

Interval interval_of(double passed, double total, BinomialMethod method) {
  Effort effort;
  const Interval interval = binomial_interval(passed, total, kLevel, method, effort);
  EXPECT_TRUE(effort.check());
  return interval;
}

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
    const Interval interval = interval_of(30, 100, expected.method);
    EXPECT_NEAR(interval.low, expected.low, 1e-9);
    EXPECT_NEAR(interval.high, expected.high, 1e-9);
  }
}

TEST(BinomialInterval, NothingAndAllPassed) {
  EXPECT_EQ(interval_of(0, 10, BinomialMethod::clopper_pearson).low, 0);
  EXPECT_NEAR(interval_of(0, 10, BinomialMethod::clopper_pearson).high, 0.168149186137954, 1e-9);
  EXPECT_EQ(interval_of(10, 10, BinomialMethod::clopper_pearson).high, 1);
}

TEST(BinomialInterval, NonsenseIsEverything) {
  for (const auto& [passed, total] : {std::pair(0.0, 0.0), std::pair(5.0, 3.0), std::pair(-1.0, 2.0)}) {
    const Interval interval = interval_of(passed, total, BinomialMethod::wilson);
    EXPECT_EQ(interval.low, 0);
    EXPECT_EQ(interval.high, 1);
  }
}

// Quantiles of the beta distribution, found by bisection down to adjacent doubles.
TEST(BinomialInterval, FewAndManyAndWeightedTrials) {
  struct Case {
    double passed, total, low, high;
  };
  constexpr Case kCases[] = {{1, 2, 0.0827515352596659, 0.917248464740334},
                             {1, 1000, 0.000172738857948638, 0.00329573511787679},
                             {999, 1000, 0.996704264882123, 0.999827261142051},
                             {500000, 1000000, 0.499499500250743, 0.500500499749257},
                             {3, 1000000, 1.36729574570393e-06, 5.91817719632475e-06},
                             {0.5, 2.25, 0.00794262856163724, 0.73584015301299},
                             {0.001, 10, 3.11150763893057e-61, 0.16828787121881}};
  for (const Case& expected : kCases) {
    const Interval interval = interval_of(expected.passed, expected.total, BinomialMethod::clopper_pearson);
    EXPECT_NEAR(interval.low, expected.low, 1e-9) << expected.passed << " of " << expected.total;
    EXPECT_NEAR(interval.high, expected.high, 1e-9) << expected.passed << " of " << expected.total;
  }
}

TEST(BinomialInterval, EndsWhenItIsAskedToOrIsTooMuch) {
  std::stop_source stop;
  stop.request_stop();
  Effort stopped(stop.get_token());
  binomial_interval(30, 100, kLevel, BinomialMethod::clopper_pearson, stopped);
  EXPECT_EQ(stopped.check().error().kind, ErrorKind::io);

  Effort little;
  while (little.spend(1000000)) {
  }
  binomial_interval(30, 100, kLevel, BinomialMethod::clopper_pearson, little);
  EXPECT_EQ(little.check().error().kind, ErrorKind::unsupported);
}

}  // namespace
}  // namespace tfile
