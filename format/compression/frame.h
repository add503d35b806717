// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tfile/chunk.h"
#include "tfile/result.h"

namespace tfile {

// Returns exactly `size` bytes: a copy if `stored` has that size (it is uncompressed), else the decoded blocks of
// docs/format.md "Compression", each 9 bytes of header and its data. The sum of the sizes in the block headers must be
// `size`; this is checked before any allocation.
Result<Buffer> decompress(std::span<const std::byte> stored, std::uint64_t size);

// Whether `stored` bytes can decode to `size` bytes with any algorithm. Rejects a false claim before any use of it.
bool can_hold(std::uint64_t stored, std::uint64_t size);

// The algorithm of the first block ("zlib", "lzma", "lz4", "zstd", "cs"), or "none" if `stored` has `size` bytes.
const char* codec_name(std::span<const std::byte> stored, std::uint64_t size);

}  // namespace tfile
