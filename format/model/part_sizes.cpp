// SPDX-License-Identifier: Apache-2.0
#include "model/part_sizes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tfile {

EntryBytes entry_bytes(const Part& part) {
  const auto entries = static_cast<double>(part.entries);
  return {static_cast<double>(part.raw_bytes) / entries, static_cast<double>(part.stored.size()) / entries};
}

std::int64_t part_entries(const EntryBytes& bytes, double raw_max) {
  if (bytes.raw <= 0) return 0;
  const double most = raw_max / std::max(bytes.raw, 1e-3);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max(1.0, most))));
}

std::int64_t cluster_entries(std::uint64_t cluster_bytes, double stored, std::span<const std::int64_t> part_entries) {
  const std::int64_t wanted =
      std::max<std::int64_t>(1, std::llround(static_cast<double>(cluster_bytes) / std::max(stored, 1e-3)));
  // A cluster should consist of whole parts; else each would end with small ones.
  std::int64_t unit = 1;
  for (const std::int64_t entries : part_entries) {
    if (entries <= wanted / 4) unit = std::max(unit, entries);
  }
  return wanted - wanted % unit;
}

}  // namespace tfile
