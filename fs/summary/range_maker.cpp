// SPDX-License-Identifier: Apache-2.0
#include "summary/range_maker.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "tfile/number_type.h"

namespace tfilefs {
namespace {

template <class Wide>
ValueRange joined_ranges(const ValueRange& before, Wide least, Wide most) {
  if (before.is_known) {
    least = std::min(least, std::bit_cast<Wide>(before.least));
    most = std::max(most, std::bit_cast<Wide>(before.most));
  }
  return {std::bit_cast<std::uint64_t>(least), std::bit_cast<std::uint64_t>(most), true};
}

// The order of two zeros does not depend on the order in which the values came.
void widen_zeros(ValueRange& range) {
  if (std::bit_cast<double>(range.least) == 0) range.least = std::bit_cast<std::uint64_t>(-0.0);
  if (std::bit_cast<double>(range.most) == 0) range.most = std::bit_cast<std::uint64_t>(0.0);
}

}  // namespace

RangeMaker::RangeMaker(tfile::Dtype dtype, std::vector<std::int64_t> bounds) : dtype_(dtype) {
  made_.groups.resize(bounds.size() - 1);
  has_nan_.resize(made_.groups.size());
  made_.bounds = std::move(bounds);
}

template <class T>
void RangeMaker::extend(std::span<const std::byte> bytes) {
  T least{}, most{};
  std::memcpy(&least, bytes.data(), sizeof(T));
  most = least;
  bool has_nan = false;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    if constexpr (std::is_floating_point_v<T>) has_nan |= value != value;
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  if (has_nan) has_nan_[group_] = true;
  if (has_nan) return;
  if constexpr (std::is_same_v<T, std::uint8_t>) {  // any byte but 0 is true
    const T limit = dtype_ == tfile::Dtype::b1 ? 1 : std::numeric_limits<T>::max();
    least = std::min(least, limit);
    most = std::min(most, limit);
  }
  made_.groups[group_] = joined_ranges<Widened<T>>(made_.groups[group_], least, most);
}

template <class T>
void RangeMaker::add_values(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    while (group_ < made_.groups.size() && made_.bounds[group_ + 1] <= value_) ++group_;
    if (group_ == made_.groups.size()) return;
    const auto left = static_cast<std::size_t>(made_.bounds[group_ + 1] - value_);
    const std::size_t count = std::min(left, bytes.size() / sizeof(T));
    extend<T>(bytes.first(count * sizeof(T)));
    bytes = bytes.subspan(count * sizeof(T));
    value_ += static_cast<std::int64_t>(count);
  }
}

void RangeMaker::add(std::span<const std::byte> values) {
  with_number_type(dtype_, [&](auto type) { add_values<decltype(type)>(values); });
}

GroupRanges RangeMaker::take() {
  const bool has_zeros = dtype_ == tfile::Dtype::f4 || dtype_ == tfile::Dtype::f8;
  for (std::size_t i = 0; i < made_.groups.size(); ++i) {
    if (has_nan_[i]) made_.groups[i] = {};
    if (has_zeros && made_.groups[i].is_known) widen_zeros(made_.groups[i]);
  }
  return std::move(made_);
}

}  // namespace tfilefs
