// SPDX-License-Identifier: Apache-2.0
#include "tree/write/basket_sizes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tfile {
namespace {

// The minimum is OptimizeBaskets'. Above the maximum, zstd uses tables that do not fit into a core's cache (half the
// speed, for a thousandth of the bytes), and reading a single entry costs more than a seek.
constexpr double kBasketBytesMin = 512, kBasketBytesMax = 128 << 10;
constexpr double kBasketBytesOver = 1.02;  // factor for the key and the count of the offsets

}  // namespace

EntryBytes entry_bytes(const Part& basket) {
  const auto entries = static_cast<double>(basket.entries);
  return {static_cast<double>(basket.raw_bytes) / entries, static_cast<double>(basket.stored.size()) / entries};
}

std::int64_t basket_entries(const EntryBytes& bytes) {
  if (bytes.raw <= 0) return 0;
  const double most = kBasketBytesMax * kBasketBytesOver / std::max(bytes.raw, 1e-3);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max(1.0, most))));
}

std::int64_t cluster_entries(std::uint64_t cluster_bytes, double stored, std::span<const std::int64_t> basket_entries) {
  const std::int64_t wanted =
      std::max<std::int64_t>(1, std::llround(static_cast<double>(cluster_bytes) / std::max(stored, 1e-3)));
  // A cluster should consist of whole baskets; else each would end with small ones.
  std::int64_t unit = 1;
  for (const std::int64_t entries : basket_entries) {
    if (entries <= wanted / 4) unit = std::max(unit, entries);
  }
  return wanted - wanted % unit;
}

std::int32_t basket_buffer_size(const EntryBytes& bytes, std::int64_t entries) {
  const double size = bytes.raw * static_cast<double>(entries);
  return static_cast<std::int32_t>(
      std::clamp(std::ceil(size / kBasketBytesMin) * kBasketBytesMin, kBasketBytesMin, kBasketBytesMax));
}

}  // namespace tfile
