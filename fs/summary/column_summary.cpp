// SPDX-License-Identifier: Apache-2.0
#include "summary/column_summary.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "query/block_sums.h"
#include "query/vector_loops.h"
#include "tfile/number_type.h"
#include "view/known_ranges.h"

namespace tfilefs {
namespace {

constexpr std::int32_t kBins = 100;
// Values of a block: they fit into the caches of a core.
constexpr std::size_t kBlockValues = 4096;

// The mean of values whose sum is no number.
double mean_of_huge(std::span<const double> values) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  return mean;
}

double as_double(const ColumnSummary::Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

}  // namespace

// The least and the most of the block's values as they are: of 64 bits, a double does not hold each.
template <class T>
void SummaryMaker::note_extremes(const std::byte* from, std::size_t count) {
  T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::lowest();
  if constexpr (std::is_floating_point_v<T>) {
    const Extremes found = extremes_of(block_.numbers[0]);
    least = static_cast<T>(found.least);
    most = static_cast<T>(found.most);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      T value{};
      std::memcpy(&value, from + i * sizeof(T), sizeof(T));
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  using Wide = Widened<T>;
  made_.least = made_.least ? std::min(std::get<Wide>(*made_.least), Wide{least}) : Wide{least};
  made_.most = made_.most ? std::max(std::get<Wide>(*made_.most), Wide{most}) : Wide{most};
}

template <class T>
void SummaryMaker::add_values(std::span<const std::byte> bytes) {
  std::vector<double>& block = block_.numbers[0];
  for (std::size_t at = 0; at < bytes.size(); at += kBlockValues * sizeof(T)) {
    const std::size_t count = std::min(kBlockValues, (bytes.size() - at) / sizeof(T));
    block.resize(count);
    load_numbers(dtype_, bytes.data() + at, block);
    if (std::is_floating_point_v<T> && !are_finite(block))
      std::erase_if(block, [this](double x) { return count_other(x); });
    made_.values += count;
    if (block.empty()) continue;
    note_extremes<T>(bytes.data() + at, count);
    add_block();
  }
}

// Whether it is none of the finite ones.
bool SummaryMaker::count_other(double value) {
  if (std::isfinite(value)) return false;
  ++(std::isnan(value) ? made_.nans : value > 0 ? made_.infinities : made_.negative_infinities);
  return true;
}

Result<> SummaryMaker::add(std::span<const std::byte> values) {
  if (values.size() % tfile::size_of(dtype_) != 0)
    return tfile::fail(ErrorKind::damaged, std::to_string(values.size()) + " bytes are no whole values of " +
                                               std::to_string(tfile::size_of(dtype_)));
  with_number_type(dtype_, [&](auto type) { add_values<decltype(type)>(values); });
  return {};
}

// Mean and squared distances of the block are joined to those of the blocks before, so that no sum loses digits
// (Chan, Golub, LeVeque).
void SummaryMaker::add_block() {
  const std::vector<double>& values = block_.numbers[0];
  block_.weights.resize(values.size(), 1);
  const auto count = static_cast<double>(values.size());
  double mean = sum_of(values) / count;
  if (!std::isfinite(mean)) mean = mean_of_huge(values);
  const double squares = squares_around(mean, values);
  const double all = static_cast<double>(finite_) + count, apart = mean - made_.mean;
  squares_ += squares + apart * apart * static_cast<double>(finite_) * (count / all);
  made_.mean += apart * (count / all);
  finite_ += values.size();
  fill(block_);
}

void SummaryMaker::fill(const DrawnValues& values) {
  std::size_t waiting = 0;
  if (!histogram_) {
    waiting = std::min(values.size(), kAxisValues - waiting_.size());
    waiting_.append(values, 0, waiting);
    if (waiting == values.size()) return;
    find_axis();
    for (const double value : waiting_.numbers[0]) counts_.add(value);
    waiting_ = DrawnValues(1);
  }
  DrawnValues rest(1);
  if (waiting > 0) rest.append(values, waiting, values.size());
  const DrawnValues& filled = waiting > 0 ? rest : values;
  for (const double value : filled.numbers[0]) counts_.add(value);
  beyond_.numbers[0].clear();
  beyond_.weights.clear();
  histogram_->fill(filled, &beyond_);
  for (std::size_t i = 0; i < beyond_.size(); ++i) histogram_->fill_extending(beyond_, i);
}

void SummaryMaker::find_axis() {
  const auto [least, most] = std::ranges::minmax(waiting_.numbers[0]);
  histogram_.emplace(std::vector{good_axis(kBins, least, most, is_whole())}, false);
  histogram_->fill(waiting_);
}

double SummaryMaker::quantile(double part) const {
  const double rank = part * static_cast<double>(finite_ - 1);
  if (counts_.count() > 0) return std::clamp(counts_.at(rank), as_double(*made_.least), as_double(*made_.most));
  const std::vector<double>& sorted = waiting_.numbers[0];
  const auto below = static_cast<std::size_t>(rank);
  const double next = sorted[std::min(below + 1, sorted.size() - 1)];
  return std::lerp(sorted[below], next, rank - static_cast<double>(below));
}

ColumnSummary SummaryMaker::finish() {
  if (finite_ == 0) return std::move(made_);
  if (!histogram_) {
    find_axis();
    std::ranges::sort(waiting_.numbers[0]);
  }
  made_.deviation = std::sqrt(squares_ / static_cast<double>(finite_));
  for (const double part : ColumnSummary::kQuantiles) made_.quantiles.push_back(quantile(part));
  made_.histogram = *std::move(histogram_);
  return std::move(made_);
}

}  // namespace tfilefs
