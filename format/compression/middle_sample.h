// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace tfile {

// How much of the data a trial of an encoder takes.
struct SampleSize {
  std::size_t share = 1;         // the sample is one part in so many
  std::size_t min = 0, max = 0;  // bytes: a smaller sample tells nothing, a larger one no more
};

// A sample from the middle of the data, which begins at a whole number of any size; empty where it would be too small.
inline std::span<const std::byte> middle_sample(std::span<const std::byte> data, SampleSize of) {
  const std::size_t size = std::min(data.size() / of.share, of.max);
  if (size < of.min) return {};
  return data.subspan((data.size() - size) / 2 / sizeof(double) * sizeof(double), size);
}

}  // namespace tfile
