// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace tfile {

// Writes a zlib stream (RFC 1950) of `data` to `into`, about as small as zlib makes it at `level` (1 to 9), or smaller.
// From `ascending` on, the data are increasing numbers. Returns the bytes used; 0 if `into` is too small. Callable from
// any thread: each keeps its own state. Throws bad_alloc.
std::size_t encode_zlib_stream(std::span<const std::byte> data, std::size_t ascending, int level,
                               std::span<std::byte> into);

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
