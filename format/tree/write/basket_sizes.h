// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/part_sizes.h"

namespace tfile {

// The entries of a basket of about 128 KiB: a power of two; 0: unknown. All functions here are pure.
std::int64_t basket_entries(const EntryBytes&);

// fBasketSize for baskets of `entries` entries, rounded as in ROOT's OptimizeBaskets.
std::int32_t basket_buffer_size(const EntryBytes&, std::int64_t entries);

}  // namespace tfile
