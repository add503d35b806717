// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "tree/write/basket_encode.h"

namespace tfile {
namespace {

// The minimum is OptimizeBaskets'. Above the maximum, zstd uses tables that do not fit into a core's cache (half the
// speed, for a thousandth of the bytes), and reading a single entry costs more than a seek.
constexpr double kBasketBytesMin = 512, kBasketBytesMax = 128 << 10;
constexpr double kBasketBytesOver = 1.02;  // factor for the key and the count of the offsets

}  // namespace

std::int64_t basket_entries(const EntryBytes& bytes) { return part_entries(bytes, kBasketBytesMax * kBasketBytesOver); }

std::int32_t basket_buffer_size(const EntryBytes& bytes, std::int64_t entries) {
  const double size = bytes.raw * static_cast<double>(entries);
  return static_cast<std::int32_t>(
      std::clamp(std::ceil(size / kBasketBytesMin) * kBasketBytesMin, kBasketBytesMin, kBasketBytesMax));
}

}  // namespace tfile
