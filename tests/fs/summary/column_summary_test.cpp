// SPDX-License-Identifier: Apache-2.0
#include "summary/column_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "summary/summary_files.h"

namespace tfilefs {
namespace {

template <class T>
ColumnSummary summary_of(tfile::Dtype dtype, const std::vector<T>& values, std::size_t piece = 1000) {
  SummaryMaker maker(dtype);
  const auto all = std::as_bytes(std::span(values));
  for (std::size_t at = 0; at < all.size(); at += piece * sizeof(T))
    EXPECT_TRUE(maker.add(all.subspan(at, std::min(piece * sizeof(T), all.size() - at))));
  return maker.finish();
}

double quantile_of(std::vector<double> sorted, double part) {
  const double rank = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  return std::lerp(sorted[below], sorted[std::min(below + 1, sorted.size() - 1)], rank - static_cast<double>(below));
}

TEST(ColumnSummary, IsThatOfAllValues) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(100, 3);
  std::vector<double> values(20'000);
  for (double& value : values) value = normal(random);
  const ColumnSummary made = summary_of(tfile::Dtype::f8, values);
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  EXPECT_EQ(made.values, values.size());
  EXPECT_NEAR(made.mean, mean, 1e-12 * mean);
  EXPECT_NEAR(made.deviation, std::sqrt(squares / static_cast<double>(values.size())), 1e-12);
  std::ranges::sort(values);
  EXPECT_EQ(std::get<double>(*made.least), values.front());
  EXPECT_EQ(std::get<double>(*made.most), values.back());
  for (std::size_t i = 0; i < made.quantiles.size(); ++i)
    EXPECT_DOUBLE_EQ(made.quantiles[i], quantile_of(values, ColumnSummary::kQuantiles[i]));
  EXPECT_EQ(made.histogram.entries(), static_cast<double>(values.size()));
  EXPECT_EQ(made.histogram.axes()[0].bins, 100);
}

TEST(ColumnSummary, OfMoreThanAMillionTheAxisGrowsAndQuantilesAreNear) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> values(2'500'000);
  for (float& value : values) value = normal(random);
  values.back() = 1000;
  const ColumnSummary made = summary_of(tfile::Dtype::f4, values, 100'000);
  EXPECT_EQ(made.histogram.entries(), static_cast<double>(values.size()));
  EXPECT_EQ(made.histogram.beyond(0, true) + made.histogram.beyond(0, false), 0);
  EXPECT_GT(made.histogram.axes()[0].high, 1000);
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < made.quantiles.size(); ++i) {
    const double wanted = quantile_of(sorted, ColumnSummary::kQuantiles[i]);
    EXPECT_NEAR(made.quantiles[i], wanted, 1e-3 * std::abs(wanted) + 1e-5);
  }
}

TEST(ColumnSummary, NumbersThatAreNoneAreCountedAlone) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const ColumnSummary made = summary_of(tfile::Dtype::f8, std::vector{nan, 1.0, infinity, -infinity, nan, 3.0, nan});
  EXPECT_EQ(made.values, 7u);
  EXPECT_EQ(made.nans, 3u);
  EXPECT_EQ(made.infinities, 1u);
  EXPECT_EQ(made.negative_infinities, 1u);
  EXPECT_EQ(made.mean, 2);
  EXPECT_EQ(made.deviation, 1);
  EXPECT_EQ(made.histogram.entries(), 2);
  const ColumnSummary none = summary_of(tfile::Dtype::f8, std::vector{nan});
  EXPECT_FALSE(none.least);
  const std::string json = summary_json(none, {});
  EXPECT_NE(json.find("\"min\": null"), std::string::npos) << json;
  EXPECT_NE(summary_picture(none, {}).find("<svg"), std::string::npos);
}

TEST(ColumnSummary, LargeIntegersAreExact) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const ColumnSummary made = summary_of(tfile::Dtype::u8, std::vector<std::uint64_t>{most, most - 1, 7});
  EXPECT_EQ(std::get<std::uint64_t>(*made.least), 7u);
  EXPECT_EQ(std::get<std::uint64_t>(*made.most), most);
  const double huge = std::numeric_limits<double>::max();
  EXPECT_NEAR(summary_of(tfile::Dtype::f8, std::vector{huge, huge, huge / 2}).mean / huge, 2.5 / 3, 1e-12);
}

TEST(ColumnSummary, HalvesOfValuesAreRefused) {
  SummaryMaker maker(tfile::Dtype::f8);
  EXPECT_FALSE(maker.add(std::vector<std::byte>(12)));
}

TEST(ValueCounts, WholeNumbersAreExact) {
  ValueCounts counts;
  for (int i = -500; i <= 500; ++i) counts.add(i);
  for (int i = 0; i <= 1000; ++i) EXPECT_EQ(counts.at(i), i - 500);
}

}  // namespace
}  // namespace tfilefs
