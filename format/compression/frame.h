// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tfile/chunk.h"
#include "tfile/result.h"

namespace tfile {

// Gives exactly `size` bytes: a copy where `stored` has that size (stored uncompressed), else the blocks of
// docs/format.md "Compression", each 9 bytes of header and its data, decoded one after the other. The sum of the sizes
// in the block headers must be `size`; it is checked before anything is allocated.
Result<Buffer> decompress(std::span<const std::byte> stored, std::uint64_t size);

// Whether `size` bytes can come from `stored`, by whatever algorithm: what is claimed is refused before it is counted
// on.
bool can_hold(std::uint64_t stored, std::uint64_t size);

// The algorithm of the first block ("zlib", "lzma", "lz4", "zstd", "cs"), or "none" if `stored` is of `size` bytes.
const char* codec_name(std::span<const std::byte> stored, std::uint64_t size);

}  // namespace tfile
