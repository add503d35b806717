// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace tfile {

// Writes a zlib stream (RFC 1950) of `data` to `into`, about as small as zlib makes it at `level` (1 to 9), or smaller.
// From `ascending` on, the data are increasing numbers. Returns the bytes used; 0 if `into` is too small. Callable from
// any thread: each keeps its own state. Throws bad_alloc.
std::size_t encode_zlib_stream(std::span<const std::byte> data, std::size_t ascending, int level,
                               std::span<std::byte> into);

}  // namespace tfile
