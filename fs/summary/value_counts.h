// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tfilefs {

// Counts of finite numbers that are alike in sign, exponent and the first ten bits behind the point, in the order of
// the numbers. So quantiles of any number of values take no more than 32 MiB, mostly some 100 KiB.
class ValueCounts {
 public:
  ValueCounts() : rows_(kRows) {}

  void add(double value) {
    const std::uint64_t place = place_of(value);
    std::unique_ptr<Row>& row = rows_[place / kRowSize];
    if (!row) row = std::make_unique<Row>();
    ++(*row)[place % kRowSize];
    ++count_;
  }
  std::uint64_t count() const { return count_; }

  // A number with so many numbers before it, up to their likeness: those of one place are spread over it evenly. Whole
  // numbers with a place of their own are exact. 0 <= rank < count().
  double at(double rank) const;

 private:
  static constexpr std::uint64_t kLikeBits = 52 - 10;
  static constexpr std::uint64_t kRows = 4096, kRowSize = 1024;
  using Row = std::array<std::uint64_t, kRowSize>;

  // Ascending with the number: those below 0 have all bits inverted, and come first.
  static std::uint64_t place_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t sign = std::uint64_t{1} << 63;
    return ((bits & sign) != 0 ? ~bits : bits | sign) >> kLikeBits;
  }

  std::vector<std::unique_ptr<Row>> rows_;
  std::uint64_t count_ = 0;
};

}  // namespace tfilefs
