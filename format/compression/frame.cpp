// SPDX-License-Identifier: Apache-2.0
#include "compression/frame.h"

#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "bytes/cursor.h"
#include "compression/codec.h"

namespace tfile {
namespace {

// The next block of `in`. Its header is checked, but not its data.
struct Block {
  Codec codec = Codec::zlib;
  std::span<const std::byte> data;
  std::uint32_t size = 0;  // decoded
};

std::uint32_t load_3_little(const std::byte* p) {
  return std::to_integer<std::uint32_t>(p[0]) | std::to_integer<std::uint32_t>(p[1]) << 8 |
         std::to_integer<std::uint32_t>(p[2]) << 16;
}

tl::unexpected<Error> unknown_tag(std::span<const std::byte> header, std::uint64_t at) {
  std::string tag;
  for (const std::byte byte : header.first(2)) {
    const auto c = std::to_integer<char>(byte);
    tag += c > ' ' && c <= '~' ? std::string(1, c) : "\\" + std::to_string(std::to_integer<int>(byte));
  }
  return fail(ErrorKind::damaged, "compressed block at byte " + std::to_string(at) + ": unknown tag '" + tag + "'");
}

tl::unexpected<Error> no_bytes(std::uint64_t at) {
  return fail(ErrorKind::damaged, "compressed block at byte " + std::to_string(at) + ": has 0 bytes");
}

Result<Block> next_block(Cursor& in) {
  const std::size_t at = in.position();
  const std::span<const std::byte> header = in.take(kBlockHeaderSize, "compressed block: header");
  if (in.failed()) return tl::unexpected<Error>(in.error());
  const std::optional<Codec> codec = codec_of_tag(header.data());
  if (!codec) return unknown_tag(header, at);
  Block block;
  block.codec = *codec;
  block.size = load_3_little(header.data() + 6);
  block.data = in.take(load_3_little(header.data() + 3), "compressed block: data");
  if (!in.failed() && block.size > std::uint64_t{ratio_max(*codec)} * block.data.size()) {
    return fail(ErrorKind::damaged, "compressed block at byte " + std::to_string(at) + ": " +
                                        std::to_string(block.size) + " bytes cannot come from " +
                                        std::to_string(block.data.size()));
  }
  return in.finish(block);
}

// The sum of the decoded sizes of all blocks. It is checked before a size that the blocks do not have is allocated.
Result<std::uint64_t> sum_of_blocks(std::span<const std::byte> stored) {
  Cursor in(stored);
  std::uint64_t sum = 0;
  while (in.left() > 0) {
    const std::size_t at = in.position();
    TRY(const Block block, next_block(in));
    if (block.size == 0) return no_bytes(at);
    sum += block.size;
  }
  return sum;
}

Result<Buffer> allocate(std::uint64_t size) try { return Buffer(size); } catch (const std::bad_alloc&) {
  return no_memory("out of memory for " + std::to_string(size) + " bytes");
}

}  // namespace

Result<Buffer> decompress(std::span<const std::byte> stored, std::uint64_t size) {
  if (stored.size() == size) {
    TRY(Buffer copy, allocate(size));
    if (!stored.empty()) std::memcpy(copy.data(), stored.data(), stored.size());
    return copy;
  }
  TRY(const std::uint64_t sum, sum_of_blocks(stored));
  if (sum != size) {
    return fail(ErrorKind::damaged,
                "compressed blocks hold " + std::to_string(sum) + " bytes, expected " + std::to_string(size));
  }
  TRY(Buffer whole, allocate(size));
  std::span<std::byte> rest = whole.span();
  Cursor in(stored);
  while (!rest.empty()) {
    TRY(const Block block, next_block(in));
    TRY_VOID(decode_block(block.codec, block.data, rest.first(block.size)));
    rest = rest.subspan(block.size);
  }
  return whole;
}

Result<BlockSizes> block_sizes(std::span<const std::byte, kBlockHeaderBytes> header, std::uint64_t at) {
  static_assert(kBlockHeaderBytes == kBlockHeaderSize);
  if (!codec_of_tag(header.data())) return unknown_tag(header, at);
  const BlockSizes sizes{static_cast<std::uint32_t>(kBlockHeaderSize) + load_3_little(header.data() + 3),
                         load_3_little(header.data() + 6)};
  if (sizes.decoded == 0) return no_bytes(at);
  return sizes;
}

bool can_hold(std::uint64_t stored, std::uint64_t size) {
  const std::uint64_t blocks = size / kBlockSizeMax + (size % kBlockSizeMax != 0);
  const std::uint64_t data = size / ratio_max(Codec::zstd);  // no codec compresses more
  return size <= stored || blocks * kBlockHeaderSize + data <= stored;
}

const char* codec_name(std::span<const std::byte> begin, std::uint64_t stored, std::uint64_t size) {
  if (stored == size || begin.size() < kBlockHeaderSize) return "none";
  const std::optional<Codec> codec = codec_of_tag(begin.data());
  return codec ? name_of(*codec) : "none";
}

}  // namespace tfile
