// SPDX-License-Identifier: Apache-2.0
#include <lz4.h>
#include <lz4hc.h>
#include <lzma.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>

#include "bytes/endian.h"
#include "compression/codec.h"
#include "compression/deflate.h"
#include "compression/frame.h"

namespace tfile {
namespace {

using Algorithm = Compression::Algorithm;

// The result of encoding a block: bytes of `into` used, 0 if it does not fit.
using Encoded = Result<std::size_t>;

Result<> no_encoder_memory() { return fail(ErrorKind::no_space, "out of memory for an encoder"); }

// The data of a block. From `ascending` on, they are increasing numbers.
struct Data {
  std::span<const std::byte> bytes;
  std::size_t ascending = 0;
};

Encoded encode_zlib(const Data& data, int level, std::span<std::byte> into) {
  return encode_zlib_stream(data.bytes, data.ascending, level, into);
}

// Initialising an encoder again keeps its memory.
class LzmaEncoder {
 public:
  LzmaEncoder() = default;
  LzmaEncoder(const LzmaEncoder&) = delete;
  LzmaEncoder& operator=(const LzmaEncoder&) = delete;
  ~LzmaEncoder() { lzma_end(&stream_); }

  Encoded encode(std::span<const std::byte> data, int level, std::span<std::byte> into) {
    lzma_options_lzma options{};
    if (lzma_lzma_preset(&options, static_cast<std::uint32_t>(level))) {
      return fail(ErrorKind::invalid, "lzma has no level " + std::to_string(level));
    }
    // As in ROOT: a dictionary larger than a quarter of the block would cost readers more memory than it saves.
    const auto quarter = static_cast<std::uint32_t>(data.size() / 4);
    options.dict_size = std::min(options.dict_size, std::max<std::uint32_t>(quarter, LZMA_DICT_SIZE_MIN));
    const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
    if (lzma_stream_encoder(&stream_, filters, LZMA_CHECK_CRC32) != LZMA_OK) {
      return tl::unexpected<Error>(no_encoder_memory().error());
    }
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(data.data());
    stream_.avail_in = data.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(into.data());
    stream_.avail_out = into.size();
    return lzma_code(&stream_, LZMA_FINISH) == LZMA_STREAM_END ? into.size() - stream_.avail_out : std::size_t{0};
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

Encoded encode_lzma(const Data& data, int level, std::span<std::byte> into) {
  thread_local LzmaEncoder encoder;
  return encoder.encode(data.bytes, level, into);
}

// ROOT uses the slower encoder from level 4 on.
constexpr int kLz4HighCompression = 4;

Encoded encode_lz4(const Data& data, int level, std::span<std::byte> into) {
  if (into.size() <= kLz4ChecksumSize) return std::size_t{0};
  const std::span<std::byte> block = into.subspan(kLz4ChecksumSize);
  const auto* from = reinterpret_cast<const char*>(data.bytes.data());
  auto* to = reinterpret_cast<char*>(block.data());
  const auto from_size = static_cast<int>(data.bytes.size());
  const auto to_size = static_cast<int>(block.size());
  int size = 0;
  if (level >= kLz4HighCompression) {
    thread_local std::unique_ptr<std::byte[]> state(new (std::nothrow)
                                                        std::byte[static_cast<std::size_t>(LZ4_sizeofStateHC())]);
    if (!state) return tl::unexpected<Error>(no_encoder_memory().error());
    size = LZ4_compress_HC_extStateHC(state.get(), from, to, from_size, to_size, level);
  } else {
    size = LZ4_compress_default(from, to, from_size, to_size);
  }
  if (size <= 0) return std::size_t{0};
  const std::uint64_t checksum = byte_swap(std::uint64_t{XXH64(block.data(), static_cast<std::size_t>(size), 0)});
  store_little(into.data(), checksum);
  return kLz4ChecksumSize + static_cast<std::size_t>(size);
}

// Each of ROOT's nine levels is two of zstd's.
constexpr int kZstdLevelsPerLevel = 2;

// For short inputs, zstd's middle levels look for matches of four bytes, and search twice as long. In most numbers such
// matches are chance. The settings for long inputs take half the time or less, for 0.0 to 1.3 % more bytes
// (docs/development/measurements.md).
constexpr int kZstdSearchLevelMin = 4, kZstdSearchLevelMax = 5, kZstdSearchLogMax = 5;
constexpr int kZstdMinMatch = 5, kZstdShortMatch = 4;
// Recurring numbers of four bytes, such as those rounded to a few decimals, make short matches pay: 10 % in a whole
// basket, 2 % in a sample of 4 KiB, a thirty-second of it. A sample of less than half that size is useless.
constexpr SampleSize kZstdSample{.share = 32, .min = 2 << 10, .max = 4 << 10};
constexpr std::size_t kZstdGainMin = 1;  // percent

// For inputs longer than a basket, as the pages of RNTuples are, tables that stay in a core's cache halve the time
// again: numbers take as many bytes as with larger ones, texts 1.3 % more.
constexpr std::size_t kZstdLongMin = (128 << 10) + 1;
constexpr int kZstdTableLog = 16;

bool short_matches_pay(ZSTD_CCtx* encoder, std::span<const std::byte> data) {
  const auto sample = middle_sample(data, kZstdSample);
  if (sample.empty()) return false;
  std::array<std::byte, 2 * kZstdSample.max> scratch;
  const auto size_with = [&](int match) {
    ZSTD_CCtx_setParameter(encoder, ZSTD_c_minMatch, match);
    return ZSTD_compress2(encoder, scratch.data(), scratch.size(), sample.data(), sample.size());
  };
  const std::size_t usual = size_with(kZstdMinMatch), with_short = size_with(kZstdShortMatch);
  return !ZSTD_isError(usual) && !ZSTD_isError(with_short) && with_short * 100 < usual * (100 - kZstdGainMin);
}

Encoded encode_zstd(const Data& data, int level, std::span<std::byte> into) {
  thread_local std::unique_ptr<ZSTD_CCtx, Free<ZSTD_freeCCtx>> encoder(ZSTD_createCCtx());
  if (!encoder) return tl::unexpected<Error>(no_encoder_memory().error());
  ZSTD_CCtx_setParameter(encoder.get(), ZSTD_c_compressionLevel, kZstdLevelsPerLevel * level);
  const bool searches = level >= kZstdSearchLevelMin && level <= kZstdSearchLevelMax;
  ZSTD_CCtx_setParameter(encoder.get(), ZSTD_c_searchLog, searches ? std::min(level, kZstdSearchLogMax) : 0);
  const int table = searches && data.bytes.size() >= kZstdLongMin ? kZstdTableLog : 0;
  ZSTD_CCtx_setParameter(encoder.get(), ZSTD_c_hashLog, table);
  ZSTD_CCtx_setParameter(encoder.get(), ZSTD_c_chainLog, table);
  const int match = searches ? short_matches_pay(encoder.get(), data.bytes) ? kZstdShortMatch : kZstdMinMatch : 0;
  ZSTD_CCtx_setParameter(encoder.get(), ZSTD_c_minMatch, match);
  const std::size_t size =
      ZSTD_compress2(encoder.get(), into.data(), into.size(), data.bytes.data(), data.bytes.size());
  return ZSTD_isError(size) ? 0 : size;
}

struct Encoder {
  Algorithm algorithm;
  char tag[2];
  char method;
  Encoded (*encode)(const Data&, int level, std::span<std::byte> into);
};

constexpr Encoder kEncoders[] = {
    {Algorithm::zlib, {'Z', 'L'}, Z_DEFLATED, encode_zlib},
    {Algorithm::lzma, {'X', 'Z'}, 0, encode_lzma},
    {Algorithm::lz4, {'L', '4'}, LZ4_VERSION_MAJOR, encode_lz4},
    {Algorithm::zstd, {'Z', 'S'}, ZSTD_VERSION_MAJOR, encode_zstd},
};

const Encoder* encoder_of(Algorithm algorithm) {
  const auto* found = std::find_if(std::begin(kEncoders), std::end(kEncoders),
                                   [&](const Encoder& encoder) { return encoder.algorithm == algorithm; });
  return found == std::end(kEncoders) ? nullptr : found;
}

void store_3_little(std::byte* p, std::size_t value) {
  for (int i = 0; i < 3; ++i) p[i] = static_cast<std::byte>(value >> 8 * i);
}

// Appends one block with its header. Returns false if it would not be smaller than its data.
Result<bool> append_block(const Encoder& encoder, const Data& data, int level, std::vector<std::byte>& stored) {
  // The encoder gets just enough room for a gain in size, so it gives up if the data do not shrink.
  if (data.bytes.size() <= kBlockHeaderSize) return false;
  const std::size_t at = stored.size();
  stored.resize(at + data.bytes.size());
  const std::span<std::byte> into =
      std::span(stored).subspan(at + kBlockHeaderSize, data.bytes.size() - kBlockHeaderSize - 1);
  TRY(const std::size_t size, encoder.encode(data, level, into));
  if (size == 0) return false;
  std::byte* header = stored.data() + at;
  header[0] = static_cast<std::byte>(encoder.tag[0]);
  header[1] = static_cast<std::byte>(encoder.tag[1]);
  header[2] = static_cast<std::byte>(encoder.method);
  store_3_little(header + 3, size);
  store_3_little(header + 6, data.bytes.size());
  stored.resize(at + kBlockHeaderSize + size);
  return true;
}

}  // namespace

Result<bool> compress(std::span<const std::byte> payload, std::size_t ascending, const Compression& compression,
                      std::vector<std::byte>& stored) try {
  const Encoder* encoder = encoder_of(compression.algorithm);
  if (!encoder || compression.level == 0) return false;
  const std::size_t before = stored.size();
  while (!payload.empty()) {
    const std::size_t size = std::min(payload.size(), kBlockSizeMax);
    const Data data{payload.first(size), std::min(size, ascending)};
    auto appended = append_block(*encoder, data, std::clamp(compression.level, 1, 9), stored);
    if (!appended || !*appended) {
      stored.resize(before);
      return appended;
    }
    payload = payload.subspan(size);
    ascending -= data.ascending;
  }
  return true;
} catch (const std::bad_alloc&) {
  return tl::unexpected<Error>(no_encoder_memory().error());
}

}  // namespace tfile
