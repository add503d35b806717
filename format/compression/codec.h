// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tfile/result.h"

namespace tfile {

// The compressed forms that a block's tag may name (docs/format.md, "Compression").
enum class Codec : std::uint8_t {
  zlib,         // "ZL": a zlib stream
  old_deflate,  // "CS": deflate without header and checksum
  lzma,         // "XZ": an xz container
  lz4,          // "L4": XXH64 of the rest, then one raw LZ4 block
  zstd,         // "ZS": a zstd frame
};

// The codec of a block that begins with `tag` (two characters); nullopt for any other two.
std::optional<Codec> codec_of_tag(const std::byte* tag);

// As schemas and `user.tfilefs.compression` say it: "zlib", "cs", "lzma", "lz4", "zstd".
const char* name_of(Codec);

// The most bytes that one stored byte can stand for. A block header that claims more lies.
std::uint32_t ratio_max(Codec);

// Fills `into` to its last byte from the data of one block (without its header). Checksums inside are verified. Any
// thread; each keeps its own decoder state. On failure `into` holds anything. Errors: damaged, no_space (memory).
Result<> decode_block(Codec, std::span<const std::byte> data, std::span<std::byte> into);

}  // namespace tfile
