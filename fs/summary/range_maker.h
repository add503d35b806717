// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tfile/node.h"
#include "view/known_ranges.h"

namespace tfilefs {

// Finds the range of each group of values that come piece by piece. Infinities are part of it. Pure.
class RangeMaker {
 public:
  // `bounds`: GroupRanges::bounds, ascending from 0 on.
  RangeMaker(tfile::Dtype, std::vector<std::int64_t> bounds);

  // Whole values.
  void add(std::span<const std::byte> values);
  GroupRanges take();

 private:
  template <class T>
  void add_values(std::span<const std::byte>);
  template <class T>
  void extend(std::span<const std::byte> of_one_group);

  const tfile::Dtype dtype_;
  GroupRanges made_;
  std::vector<bool> has_nan_;  // by group
  std::size_t group_ = 0;      // that of the next value
  std::int64_t value_ = 0;     // the number of the next value
};

}  // namespace tfilefs
