// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tfile/range.h"
#include "tfile/result.h"

namespace tfilefs {

// For bytes of a column at `offset`, fewer than its size promised.
tl::unexpected<tfile::Error> ends_early(std::uint64_t offset, std::uint64_t found, std::uint64_t expected);

// For a chunk whose column `slot` has so many bytes; `expected`: "40 bytes", "5 items".
tl::unexpected<tfile::Error> wrong_size(std::uint32_t chunk, std::size_t slot, std::size_t bytes,
                                        const std::string& expected);

// For offsets that decrease, or else do not lie within `range`.
tl::unexpected<tfile::Error> unsound_offsets(std::span<const std::int64_t>, tfile::ItemRange range);

}  // namespace tfilefs
