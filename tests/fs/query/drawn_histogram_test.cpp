// SPDX-License-Identifier: Apache-2.0
#include "query/drawn_histogram.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tfilefs {
namespace {

DrawnValues one_dimension(std::vector<double> numbers, std::vector<double> weights = {}) {
  DrawnValues values(1);
  values.weights = weights.empty() ? std::vector<double>(numbers.size(), 1) : std::move(weights);
  values.numbers[0] = std::move(numbers);
  return values;
}

// As ROOT 6.40 finds them (tests/oracle/test_draw.py has more).
TEST(HistogramAxis, LimitsAreRound) {
  const HistogramAxis numbers = good_axis(100, 0.5, 9.5, false);
  EXPECT_EQ(numbers.bins, 100);
  EXPECT_LE(numbers.low, 0.5);
  EXPECT_GT(numbers.high, 9.5);
  const HistogramAxis same = good_axis(100, 3, 3, false);
  EXPECT_LT(same.low, 3);
  EXPECT_GT(same.high, 3);
  const HistogramAxis none = good_axis(100, DBL_MAX, -DBL_MAX, false);
  EXPECT_LT(none.low, none.high);
  const HistogramAxis infinite = good_axis(100, 0, std::numeric_limits<double>::infinity(), false);
  EXPECT_EQ(infinite, (HistogramAxis{100, -1, 1}));
}

TEST(HistogramAxis, WholeNumbersHaveBinsOfTheirOwn) {
  const HistogramAxis axis = good_axis(100, 0, 12, true);
  EXPECT_EQ(axis.low, std::trunc(axis.low));
  EXPECT_EQ(axis.width(), 1);
  EXPECT_GT(axis.high, 12);
}

TEST(HistogramAxis, HasDistinctEdgesFarFromZero) {
  for (const double far : {0x1p60, -0x1p60, 0x1p60 - 512, 0x1p62, 1e30}) {
    const double step = std::nextafter(std::abs(far), HUGE_VAL) - std::abs(far);
    for (const double range : {0.0, 1.0, 4.0, 40.0, 400.0, 4000.0}) {
      for (const bool is_integer : {true, false}) {
        const double most = far + range * step;
        const HistogramAxis axis = good_axis(100, far, most, is_integer);
        EXPECT_TRUE(axis.has(far) && axis.has(most)) << far << " " << range;
        for (std::size_t i = 1; i <= static_cast<std::size_t>(axis.bins); ++i)
          ASSERT_GT(axis.edge(i), axis.edge(i - 1)) << far << " " << range << " " << i;
      }
    }
  }
}

TEST(HistogramAxis, GrowsByDoubling) {
  HistogramAxis axis{10, 0, 10};
  EXPECT_TRUE(extend_axis(axis, 35));
  EXPECT_EQ(axis, (HistogramAxis{10, 0, 40}));
  EXPECT_TRUE(extend_axis(axis, -1));
  EXPECT_EQ(axis, (HistogramAxis{10, -40, 40}));
  EXPECT_FALSE(extend_axis(axis, std::nan("")));
  EXPECT_FALSE(extend_axis(axis, std::numeric_limits<double>::infinity()));
}

TEST(DrawnHistogram, MomentsAreThoseOfValuesWithinAllAxes) {
  DrawnHistogram histogram({{2, 0, 2}, {2, 0, 2}}, false), other = histogram;
  DrawnValues values(2);
  values.numbers = {{0.5, 1.5, 0.25, std::nan("")}, {1.25, 0.5, 9, 1}};
  values.weights = {2, 3, 5, 7};
  histogram.fill(values);
  other.fill(values);
  histogram.add(other);
  const auto& moments = histogram.moments();
  EXPECT_EQ(histogram.entries(), 8);
  EXPECT_EQ(moments.weights, 2 * 5);
  EXPECT_EQ(moments.squares, 2 * 13);
  EXPECT_EQ(moments.first[0], 2 * (2 * 0.5 + 3 * 1.5));
  EXPECT_EQ(moments.second[1], 2 * (2 * 1.25 * 1.25 + 3 * 0.5 * 0.5));
  EXPECT_EQ(moments.xy, 2 * (2 * 0.5 * 1.25 + 3 * 1.5 * 0.5));
}

TEST(DrawnHistogram, CountsAndSums) {
  DrawnHistogram histogram({{4, 0, 4}}, false);
  histogram.fill(one_dimension({0.5, 1.5, 1.5, 3, -1, 4, std::nan("")}));
  EXPECT_EQ(std::vector<double>(histogram.contents().begin(), histogram.contents().end()),
            (std::vector<double>{1, 1, 2, 0, 1, 2}));
  EXPECT_EQ(histogram.entries(), 7);
  EXPECT_DOUBLE_EQ(histogram.mean(0), 6.5 / 4);
  EXPECT_FALSE(histogram.is_weighted());
  EXPECT_EQ(histogram.beyond(0, true), 2);
}

TEST(DrawnHistogram, PartsAreAddedAndExtended) {
  DrawnHistogram all({{4, 0, 4}}, false), part({{4, 0, 4}}, false);
  DrawnValues beyond(1);
  part.fill(one_dimension({0.5, 2.5, 6}), &beyond);
  ASSERT_EQ(beyond.size(), 1u);
  all.fill(one_dimension({3.5}));
  const auto done = all.fill_extending(beyond, 0);
  ASSERT_EQ(done.size(), 1u);
  for (const auto& each : done) part.extend(each);
  all.add(part);
  EXPECT_EQ(all.axes()[0], (HistogramAxis{4, 0, 8}));
  EXPECT_EQ(std::vector<double>(all.contents().begin(), all.contents().end()), (std::vector<double>{0, 1, 2, 0, 1, 0}));
}

// Values that are alike are filled by vectors.
TEST(DrawnHistogram, VectorsFillAsOneValueAfterTheOther) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0.3, 2);
  std::vector<double> numbers(10'001);
  for (double& each : numbers) each = normal(random);
  for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL, -1.0, 3.0, 0.1, -0.0}) numbers.push_back(odd);
  for (const HistogramAxis& axis :
       {HistogramAxis{7, -1, 3}, HistogramAxis{1000, -0.1, 0.3}, HistogramAxis{1, 0, 1e-300}}) {
    DrawnHistogram by_vectors({axis}, false), one_by_one({axis}, false);
    by_vectors.fill(one_dimension(numbers));
    double first = 0;
    for (const double each : numbers) {
      one_by_one.fill(one_dimension({each}, {2}));
      if (axis.has(each)) first += each;
    }
    ASSERT_EQ(by_vectors.entries(), static_cast<double>(numbers.size()));
    for (std::size_t bin = 0; bin < by_vectors.contents().size(); ++bin)
      ASSERT_EQ(2 * by_vectors.contents()[bin], one_by_one.contents()[bin]) << bin;
    EXPECT_EQ(2 * by_vectors.sum_of_weights(), one_by_one.sum_of_weights());
    EXPECT_NEAR(by_vectors.moments().first[0], first, 1e-9);
  }
}

TEST(DrawnHistogram, FarAxesHaveBins) {
  const std::vector<double> far{0, 1e307, 9.9e307, -1e307};
  for (const double weight : {1.0, 2.0}) {
    DrawnHistogram histogram({{1000, 0, 1e308}}, false);
    histogram.fill(one_dimension(far, std::vector<double>(far.size(), weight)));
    EXPECT_EQ(histogram.contents()[0], weight);
    EXPECT_EQ(histogram.contents()[1], weight);
    EXPECT_EQ(histogram.contents()[101], weight);
    EXPECT_EQ(histogram.contents()[991], weight);
  }
}

TEST(DrawnHistogram, Profiles) {
  DrawnHistogram profile({{2, 0, 2}}, true);
  DrawnValues values(2);
  values.numbers = {{0.5, 0.5, 1.5}, {1, 3, 7}};
  values.weights = {1, 1, 2};
  profile.fill(values);
  EXPECT_DOUBLE_EQ(profile.profile_value(1), 2);
  EXPECT_DOUBLE_EQ(profile.profile_error(1), 1 / std::sqrt(2));
  EXPECT_DOUBLE_EQ(profile.profile_value(2), 7);
  EXPECT_DOUBLE_EQ(profile.profile_error(2), 0);
  EXPECT_DOUBLE_EQ(profile.effective_entries(1), 2);
  EXPECT_DOUBLE_EQ(profile.effective_entries(2), 1);
  // The value is behind the axes.
  EXPECT_EQ(profile.moments().first, (std::array<double, 3>{4, 18, 0}));
  EXPECT_EQ(profile.moments().second, (std::array<double, 3>{5, 108, 0}));
}

}  // namespace
}  // namespace tfilefs
