// SPDX-License-Identifier: Apache-2.0
#include "compression/codec.h"

#include <libdeflate.h>
#include <lz4.h>
#include <lzma.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include <memory>
#include <string>

#include "bytes/endian.h"

namespace tfile {
namespace {

// xz -9, the most that ROOT uses, needs 65 MiB to decode. A damaged dictionary size could claim 4 GiB.
constexpr std::uint64_t kLzmaMemoryMax = 128ull << 20;

Result<> damaged(const char* what, std::size_t stored, std::size_t size) {
  return fail(ErrorKind::damaged, std::string(what) + ": block of " + std::to_string(stored) +
                                      " bytes does not decode to the expected " + std::to_string(size) + " bytes");
}

Result<> no_memory_to_decode() { return no_memory("out of memory for a decoder"); }

// zlib, the slower decoder, decides: ROOT uses it, so whatever it accepts must be accepted.
bool inflate_whole(std::span<const std::byte> data, std::span<std::byte> into, int window_bits) {
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(into.data());
  stream.avail_out = static_cast<uInt>(into.size());
  if (inflateInit2(&stream, window_bits) != Z_OK) return false;
  const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

Result<> decode_deflate(Codec codec, std::span<const std::byte> data, std::span<std::byte> into) {
  thread_local std::unique_ptr<libdeflate_decompressor, Free<libdeflate_free_decompressor>> decoder(
      libdeflate_alloc_decompressor());
  if (!decoder) return no_memory_to_decode();
  const bool zlib = codec == Codec::zlib;
  const auto decode = zlib ? libdeflate_zlib_decompress : libdeflate_deflate_decompress;
  if (decode(decoder.get(), data.data(), data.size(), into.data(), into.size(), nullptr) == LIBDEFLATE_SUCCESS) {
    return {};
  }
  if (inflate_whole(data, into, zlib ? MAX_WBITS : -MAX_WBITS)) return {};
  return damaged(zlib ? name_of(codec) : "deflate", data.size(), into.size());
}

// Initialising a decoder again keeps its memory, so a thread allocates the dictionary once.
class LzmaDecoder {
 public:
  LzmaDecoder() = default;
  LzmaDecoder(const LzmaDecoder&) = delete;
  LzmaDecoder& operator=(const LzmaDecoder&) = delete;
  ~LzmaDecoder() { lzma_end(&stream_); }

  lzma_ret decode(std::span<const std::byte> data, std::span<std::byte> into) {
    if (const lzma_ret ready = lzma_stream_decoder(&stream_, kLzmaMemoryMax, 0); ready != LZMA_OK) return ready;
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(data.data());
    stream_.avail_in = data.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(into.data());
    stream_.avail_out = into.size();
    const lzma_ret end = lzma_code(&stream_, LZMA_FINISH);
    return end == LZMA_STREAM_END && stream_.avail_out != 0 ? LZMA_DATA_ERROR : end;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

Result<> decode_lzma(std::span<const std::byte> data, std::span<std::byte> into) {
  thread_local LzmaDecoder decoder;
  const lzma_ret end = decoder.decode(data, into);
  if (end == LZMA_STREAM_END) return {};
  if (end == LZMA_MEM_ERROR) return no_memory_to_decode();
  return damaged(name_of(Codec::lzma), data.size(), into.size());
}

Result<> decode_lz4(std::span<const std::byte> data, std::span<std::byte> into) {
  if (data.size() < kLz4ChecksumSize) return damaged(name_of(Codec::lz4), data.size(), into.size());
  const std::span<const std::byte> block = data.subspan(kLz4ChecksumSize);
  if (XXH64(block.data(), block.size(), 0) != load_big<std::uint64_t>(data.data())) {
    return fail(ErrorKind::damaged, "lz4: checksum of a block of " + std::to_string(data.size()) + " bytes is wrong");
  }
  // Both sizes come from fields of three bytes, so they fit into an int.
  const int decoded =
      LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(into.data()),
                          static_cast<int>(block.size()), static_cast<int>(into.size()));
  if (decoded >= 0 && static_cast<std::size_t>(decoded) == into.size()) return {};
  return damaged(name_of(Codec::lz4), data.size(), into.size());
}

Result<> decode_zstd(std::span<const std::byte> data, std::span<std::byte> into) {
  thread_local std::unique_ptr<ZSTD_DCtx, Free<ZSTD_freeDCtx>> decoder(ZSTD_createDCtx());
  if (!decoder) return no_memory_to_decode();
  // An error code is a size far larger than any block.
  const std::size_t decoded = ZSTD_decompressDCtx(decoder.get(), into.data(), into.size(), data.data(), data.size());
  if (decoded == into.size()) return {};
  return damaged(name_of(Codec::zstd), data.size(), into.size());
}

}  // namespace

std::optional<Codec> codec_of_tag(const std::byte* tag) {
  switch (load_big<std::uint16_t>(tag)) {
    case 'Z' << 8 | 'L':
      return Codec::zlib;
    case 'C' << 8 | 'S':
      return Codec::old_deflate;
    case 'X' << 8 | 'Z':
      return Codec::lzma;
    case 'L' << 8 | '4':
      return Codec::lz4;
    case 'Z' << 8 | 'S':
      return Codec::zstd;
    default:
      return std::nullopt;
  }
}

std::uint32_t ratio_max(Codec codec) {
  switch (codec) {
    case Codec::zlib:
    case Codec::old_deflate:
      return 1032;  // 258 bytes from a match of at least two bits (zlib's technical notes)
    case Codec::lz4:
      return 255;  // each further byte of a match length adds 255
    case Codec::lzma:
      return 8192;  // 273 bytes from a match of at least 14 decisions of 0.022 bits each
    case Codec::zstd:
      return 128 << 10;  // a block of 128 KiB from its header and one byte
  }
  return 0;
}

Result<> decode_block(Codec codec, std::span<const std::byte> data, std::span<std::byte> into) {
  switch (codec) {
    case Codec::zlib:
    case Codec::old_deflate:
      return decode_deflate(codec, data, into);
    case Codec::lzma:
      return decode_lzma(data, into);
    case Codec::lz4:
      return decode_lz4(data, into);
    case Codec::zstd:
      return decode_zstd(data, into);
  }
  return fail(ErrorKind::unsupported, "unknown codec");
}

}  // namespace tfile
