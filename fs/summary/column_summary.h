// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "query/drawn_histogram.h"
#include "reply.h"
#include "summary/value_counts.h"
#include "tfile/node.h"

namespace tfilefs {

// All values of a column of numbers together.
struct ColumnSummary {
  using Number = std::variant<std::int64_t, std::uint64_t, double>;
  std::uint64_t values = 0;  // each element of each item
  std::uint64_t nans = 0, infinities = 0, negative_infinities = 0;
  // Among the finite ones, as all that follows. Nothing: there are none.
  std::optional<Number> least, most;
  double mean = 0, deviation = 0;
  // By kQuantiles. Of more than a million values they are within a thousandth of their size.
  std::vector<double> quantiles;
  // With the axis that TTree::Draw finds.
  DrawnHistogram histogram{{HistogramAxis{}}, false};

  static constexpr std::array<double, 9> kQuantiles{0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99};
};

// Makes the summary of values that come piece by piece. Pure. Takes 16 MB, and what ValueCounts takes.
class SummaryMaker {
 public:
  explicit SummaryMaker(tfile::Dtype dtype) : dtype_(dtype), waiting_(1), block_(1), beyond_(1) {}

  // Errors: damaged (no whole number of values).
  Result<> add(std::span<const std::byte> values);
  ColumnSummary finish();

 private:
  template <class T>
  void add_values(std::span<const std::byte>);
  template <class T>
  void note_extremes(const std::byte* from, std::size_t count);
  bool count_other(double value);
  void add_block();
  void find_axis();
  void fill(const DrawnValues&);
  double quantile(double part) const;
  bool is_whole() const { return dtype_ != tfile::Dtype::f4 && dtype_ != tfile::Dtype::f8; }

  const tfile::Dtype dtype_;
  ColumnSummary made_;
  double squares_ = 0;  // sum of squared distances from the mean
  std::uint64_t finite_ = 0;
  DrawnValues waiting_;  // until the axis is found
  DrawnValues block_, beyond_;
  std::optional<DrawnHistogram> histogram_;
  ValueCounts counts_;
};

}  // namespace tfilefs
