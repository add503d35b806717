// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "tfile/writer.h"

namespace tfile {

// The size of one entry of a branch, according to one of its baskets; 0: unknown.
struct EntryBytes {
  double raw = 0, stored = 0;  // before and after compression, with its share of key and offsets
};
EntryBytes entry_bytes(const Part& basket);

// The entries of a basket of about 128 KiB: a power of two; 0: unknown. All functions here are pure.
std::int64_t basket_entries(const EntryBytes&);

// The entries of a cluster of about `cluster_bytes`, if an entry of all branches takes `stored` bytes. Rounded down to
// whole baskets, unless that shortens it much. `basket_entries`: entries per basket of each branch.
std::int64_t cluster_entries(std::uint64_t cluster_bytes, double stored, std::span<const std::int64_t> basket_entries);

// fBasketSize for baskets of `entries` entries, rounded as in ROOT's OptimizeBaskets.
std::int32_t basket_buffer_size(const EntryBytes&, std::int64_t entries);

}  // namespace tfile
