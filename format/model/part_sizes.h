// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "tfile/writer.h"

namespace tfile {

// The size of one entry of a field, according to one of its parts; 0: unknown. All functions here are pure.
struct EntryBytes {
  double raw = 0, stored = 0;  // before and after compression, with its share of key and offsets
};
EntryBytes entry_bytes(const Part&);

// The entries of a part of at most `raw_max` bytes: a power of two; 0: unknown.
std::int64_t part_entries(const EntryBytes&, double raw_max);

// The entries of a cluster of about `cluster_bytes`, if an entry of all fields takes `stored` bytes. Rounded down to
// whole parts, unless that shortens it much. `part_entries`: entries per part of each field.
std::int64_t cluster_entries(std::uint64_t cluster_bytes, double stored, std::span<const std::int64_t> part_entries);

}  // namespace tfile
