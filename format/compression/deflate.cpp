// SPDX-License-Identifier: Apache-2.0
#include "compression/deflate.h"

#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>

#include "bytes/endian.h"

namespace tfile {
namespace {

std::uint8_t* bytes_of(std::span<std::byte> bytes) { return reinterpret_cast<std::uint8_t*>(bytes.data()); }
// The libraries take their input without const, but do not write to it.
std::uint8_t* bytes_of(std::span<const std::byte> bytes) {
  return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

// libdeflate's first levels trade ratio for speed. From level 5 on, it compresses as well as ROOT's zlib at any level
// up to 5, or better, in less time than zlib needs at level 1 (docs/development/measurements.md, "Encoder for
// deflate").
constexpr int kDeflateLevelMin = 5;

libdeflate_compressor* libdeflate_at(int level) {
  struct Free {
    void operator()(libdeflate_compressor* encoder) const { libdeflate_free_compressor(encoder); }
  };
  thread_local std::unique_ptr<libdeflate_compressor, Free> encoder;
  thread_local int encoder_level = 0;
  level = std::max(level, kDeflateLevelMin);
  if (!encoder || encoder_level != level) {
    encoder.reset(libdeflate_alloc_compressor(level));
    encoder_level = level;
  }
  if (!encoder) throw std::bad_alloc();
  return encoder.get();
}

// A block of the stream, which has one code, has as many symbols as fit into the encoder's memory. In pages of RNTuples
// the bytes of numbers are sorted by their position: with ISA-L's default of four times as much, a block takes in bytes
// that have nothing in common, and pages become up to a tenth larger, for little time
// (docs/development/measurements.md, "Encoder for deflate").
constexpr std::size_t kIsalMemory = ISAL_DEF_LVL1_SMALL;

// ISA-L at level 1: two to seven times as fast as libdeflate at level 5. `last`: the stream ends here. Otherwise the
// output ends at a byte boundary, and another encoder continues.
std::size_t with_isal(std::span<const std::byte> data, bool last, std::span<std::byte> into) {
  struct Encoder {
    isal_zstream stream;
    std::array<std::uint8_t, kIsalMemory> level_buffer;
  };
  thread_local const auto encoder = std::make_unique<Encoder>();
  isal_zstream& stream = encoder->stream;
  isal_deflate_stateless_init(&stream);
  stream.level = 1;
  stream.level_buf = encoder->level_buffer.data();
  stream.level_buf_size = static_cast<std::uint32_t>(encoder->level_buffer.size());
  stream.gzip_flag = IGZIP_DEFLATE;
  stream.end_of_stream = last;
  stream.flush = last ? NO_FLUSH : FULL_FLUSH;
  stream.next_in = bytes_of(data);
  stream.avail_in = static_cast<std::uint32_t>(data.size());
  stream.next_out = bytes_of(into);
  stream.avail_out = static_cast<std::uint32_t>(into.size());
  return isal_deflate_stateless(&stream) == COMP_OK ? stream.total_out : 0;
}

// zlib itself at level 1, the reference for the size of the other encoders' output.
class Reference {
 public:
  Reference() {
    if (deflateInit2(&stream_, 1, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  ~Reference() { deflateEnd(&stream_); }
  std::size_t size_of(std::span<const std::byte> data, std::span<std::byte> scratch) {
    deflateReset(&stream_);
    stream_.next_in = bytes_of(data);
    stream_.avail_in = static_cast<uInt>(data.size());
    stream_.next_out = bytes_of(scratch);
    stream_.avail_out = static_cast<uInt>(scratch.size());
    return deflate(&stream_, Z_FINISH) == Z_STREAM_END ? stream_.total_out : data.size();
  }

 private:
  z_stream stream_{};
};

// ISA-L finds no matches of three bytes. Numbers that increase in small steps, such as entry numbers and offsets,
// consist of such matches, and become 1.7 times as large as with zlib. Most other data become as small or smaller. A
// sample from the middle decides: a sixteenth of the data, for a tenth of the time. A sample above the maximum tells no
// more, one below the minimum tells nothing.
constexpr SampleSize kSample{.share = 16, .min = 256, .max = 4 << 10};
// In percent: how much larger than ROOT's a file may become.
constexpr std::size_t kLargerMax = 2;

bool isal_does(std::span<const std::byte> data) {
  const auto sample = middle_sample(data, kSample);
  if (sample.empty()) return false;
  thread_local Reference reference;
  std::array<std::byte, 2 * kSample.max> scratch;
  const std::size_t fast = with_isal(sample, true, scratch);
  return fast > 0 && fast * 100 <= reference.size_of(sample, scratch) * (100 + kLargerMax);
}

constexpr std::size_t kHeaderSize = 2, kChecksumSize = 4;

// One stream made by two encoders: ISA-L up to `part`, libdeflate for the rest.
std::size_t with_both(std::span<const std::byte> data, std::size_t part, int level, std::span<std::byte> into) {
  if (into.size() <= kHeaderSize + kChecksumSize) return 0;
  constexpr std::byte kHeader[] = {std::byte{0x78}, std::byte{0x01}};  // window of 32 KiB, fastest level
  std::copy(std::begin(kHeader), std::end(kHeader), into.begin());
  const std::span<std::byte> blocks = into.subspan(kHeaderSize, into.size() - kHeaderSize - kChecksumSize);
  const std::span<const std::byte> rest = data.subspan(part);
  std::size_t size = with_isal(data.first(part), rest.empty(), blocks);
  if (size == 0) return 0;
  if (!rest.empty()) {
    const std::size_t more = libdeflate_deflate_compress(libdeflate_at(level), rest.data(), rest.size(),
                                                         blocks.data() + size, blocks.size() - size);
    if (more == 0) return 0;
    size += more;
  }
  store_big(blocks.data() + size, libdeflate_adler32(1, data.data(), data.size()));
  return kHeaderSize + size + kChecksumSize;
}

}  // namespace

std::size_t encode_zlib_stream(std::span<const std::byte> data, std::size_t ascending, int level,
                               std::span<std::byte> into) {
  if (level <= 1 && isal_does(data.first(ascending))) return with_both(data, ascending, level, into);
  return libdeflate_zlib_compress(libdeflate_at(level), data.data(), data.size(), into.data(), into.size());
}

}  // namespace tfile
