// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tfile/writer.h"

namespace tfile {

// Appends to `stored` the blocks (docs/format.md "Compression") that hold `payload`, as ROOT makes them with that
// algorithm and level. Returns false and appends nothing if the payload should be stored as it is: for Algorithm::none
// or level 0, or if a block would not shrink. From `ascending` on, the payload consists of increasing numbers (the
// offsets of a basket), which some encoders handle badly. Callable from any thread: each keeps its own encoder state.
// Errors: no_space (memory).
Result<bool> compress(std::span<const std::byte> payload, std::size_t ascending, const Compression&,
                      std::vector<std::byte>& stored);

}  // namespace tfile
