// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "tfile/writer.h"

namespace tfile {

// Bytes that an entry of a branch takes, as one basket of it shows; 0: not known.
struct EntryBytes {
  double raw = 0, stored = 0;  // before and after compression, with its share of the key and the table of entries
};
EntryBytes entry_bytes(const Part& basket);

// Entries of a basket of about 128 KiB: a power of two; 0: not known. Pure, as all here.
std::int64_t basket_entries(const EntryBytes&);

// Entries of a cluster of about `cluster_bytes`, where an entry of all branches takes `stored` bytes: of whole baskets,
// where that takes little off it. `basket_entries`: of each branch.
std::int64_t cluster_entries(std::uint64_t cluster_bytes, double stored, std::span<const std::int64_t> basket_entries);

// fBasketSize for baskets of `entries` entries, as ROOT's OptimizeBaskets rounds it.
std::int32_t basket_buffer_size(const EntryBytes&, std::int64_t entries);

}  // namespace tfile
