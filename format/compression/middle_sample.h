// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace tfile {

// The amount of data that a trial of an encoder takes.
struct SampleSize {
  std::size_t share = 1;         // one part in this many is the sample
  std::size_t min = 0, max = 0;  // bytes: a smaller sample is useless, a larger one no better
};

// A sample from the middle of the data, beginning at a multiple of the largest number's size; empty if too small.
inline std::span<const std::byte> middle_sample(std::span<const std::byte> data, SampleSize of) {
  const std::size_t size = std::min(data.size() / of.share, of.max);
  if (size < of.min) return {};
  return data.subspan((data.size() - size) / 2 / sizeof(double) * sizeof(double), size);
}

}  // namespace tfile
