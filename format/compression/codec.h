// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tfile/result.h"

namespace tfile {

// The compressed forms that a block's tag can name (docs/format.md, "Compression").
enum class Codec : std::uint8_t {
  zlib,         // "ZL": a zlib stream
  old_deflate,  // "CS": deflate without header and checksum
  lzma,         // "XZ": an xz container
  lz4,          // "L4": XXH64 of the rest, then one raw LZ4 block
  zstd,         // "ZS": a zstd frame
};

// A block has a header: tag (2), method (1), stored size (3), decoded size (3).
inline constexpr std::size_t kBlockHeaderSize = 9;
inline constexpr std::size_t kBlockSizeMax = (1 << 24) - 1;
// The XXH64 before an LZ4 block.
inline constexpr std::size_t kLz4ChecksumSize = 8;

// Frees the state of a codec's library by its function.
template <auto kFunction>
struct Free {
  template <class T>
  void operator()(T* state) const {
    kFunction(state);
  }
};

// The codec of a block that begins with `tag` (two characters); nullopt if there is none.
std::optional<Codec> codec_of_tag(const std::byte* tag);

// The name in schemas and in `user.tfilefs.compression`: "zlib", "cs", "lzma", "lz4", "zstd".
constexpr const char* name_of(Codec codec) {
  switch (codec) {
    case Codec::zlib:
      return "zlib";
    case Codec::old_deflate:
      return "cs";
    case Codec::lzma:
      return "lzma";
    case Codec::lz4:
      return "lz4";
    case Codec::zstd:
      return "zstd";
  }
  return "none";
}

// The most bytes to which one stored byte can decode. A block header that claims more is damaged.
std::uint32_t ratio_max(Codec);

// Decodes the data of one block (without its header); the result must fill `into` exactly. Verifies the checksums in
// the data. Callable from any thread: each keeps its own decoder state. After a failure, the content of `into` is
// undefined. Errors: damaged, no_space (memory).
Result<> decode_block(Codec, std::span<const std::byte> data, std::span<std::byte> into);

// ROOT's settings, 100 * algorithm + level, as "zlib:1"; "none" if nothing is compressed.
std::string compression_text(std::int32_t settings);

}  // namespace tfile
