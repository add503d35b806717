// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tfile/chunk.h"
#include "tfile/result.h"
#include "tfile/writer.h"

namespace tfile {

// Returns exactly `size` bytes: a copy if `stored` has that size (it is uncompressed), else the decoded blocks of
// docs/format.md "Compression", each 9 bytes of header and its data. The sum of the sizes in the block headers must be
// `size`; this is checked before any allocation.
Result<Buffer> decompress(std::span<const std::byte> stored, std::uint64_t size);

// The sizes in a block's header, which begins `at` bytes into the payload. Errors: damaged.
struct BlockSizes {
  std::uint32_t stored = 0;  // with the header
  std::uint32_t decoded = 0;
};
inline constexpr std::size_t kBlockHeaderBytes = 9;
Result<BlockSizes> block_sizes(std::span<const std::byte, kBlockHeaderBytes> header, std::uint64_t at);

// Whether `stored` bytes can decode to `size` bytes with any algorithm. Rejects a false claim before any use of it.
bool can_hold(std::uint64_t stored, std::uint64_t size);

// The algorithm of the first block ("zlib", "lzma", "lz4", "zstd", "cs") of what begins with these bytes, or "none" if
// the `stored` bytes are as many as the `size` decoded ones.
const char* codec_name(std::span<const std::byte> begin, std::uint64_t stored, std::uint64_t size);
inline const char* codec_name(std::span<const std::byte> stored, std::uint64_t size) {
  return codec_name(stored, stored.size(), size);
}

// Appends to `stored` the blocks (docs/format.md "Compression") that hold `payload`, as ROOT makes them with that
// algorithm and level. Returns false and appends nothing if the payload should be stored as it is: for Algorithm::none
// or level 0, or if a block would not shrink. From `ascending` on, the payload consists of increasing numbers (the
// offsets of a basket), which some encoders handle badly. Callable from any thread: each keeps its own encoder state.
// Errors: no_space (memory).
Result<bool> compress(std::span<const std::byte> payload, std::size_t ascending, const Compression&,
                      std::vector<std::byte>& stored);

}  // namespace tfile
