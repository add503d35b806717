// SPDX-License-Identifier: Apache-2.0
// Compares decoders for deflate, on blocks like those of baskets, made here and compressed by zlib at ROOT's default
// level.
#include <benchmark/benchmark.h>
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "bytes/endian.h"
#include "compression/frame.h"

namespace {

using Bytes = std::vector<std::byte>;

struct Block {
  Bytes raw, packed;
};

void append(Bytes& bytes, std::uint32_t value) {
  const std::uint32_t swapped = tfile::byte_swap(value);
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof swapped);
  std::memcpy(bytes.data() + at, &swapped, sizeof swapped);
}

// A falling spectrum of floats, rounded to 12 bits of mantissa as in NanoAOD.
Bytes floats(std::size_t size, std::mt19937& random) {
  std::exponential_distribution<float> spectrum(0.05f);
  Bytes bytes;
  while (bytes.size() < size) append(bytes, std::bit_cast<std::uint32_t>(spectrum(random)) & 0xFFFFF800);
  return bytes;
}

// The usual content of an event tree: such floats, small numbers, flags; one kind per basket.
Bytes event_column(std::size_t size, std::mt19937& random, std::size_t kind) {
  if (kind % 3 == 0) return floats(size, random);
  std::poisson_distribution<std::uint32_t> counts(kind % 3 == 1 ? 3.0 : 0.1);
  Bytes bytes;
  while (bytes.size() < size) append(bytes, counts(random));
  return bytes;
}

Block packed(Bytes raw) {
  Block block;
  block.raw = std::move(raw);
  uLongf size = compressBound(block.raw.size());
  block.packed.resize(size);
  compress2(reinterpret_cast<Bytef*>(block.packed.data()), &size, reinterpret_cast<const Bytef*>(block.raw.data()),
            block.raw.size(), 1);
  block.packed.resize(size);
  return block;
}

enum Sample { kColumn, kEvent, kSmall };
const char* const kSampleNames[] = {"float column, 60 KB", "event tree, 45 KB", "event tree, 2 KB"};

// About 10 MB of each, more than the caches hold.
const std::vector<Block>& blocks(Sample sample) {
  static std::vector<Block> made[3];
  if (made[sample].empty()) {
    std::mt19937 random(12345);
    const std::size_t size = sample == kColumn ? 60'000 : sample == kEvent ? 45'000 : 2'000;
    for (std::size_t i = 0; i < 10'000'000 / size; ++i) {
      made[sample].push_back(packed(sample == kColumn ? floats(size, random) : event_column(size, random, i)));
    }
  }
  return made[sample];
}

template <class Decode>
void run(benchmark::State& state, Decode decode) {
  const auto sample = static_cast<Sample>(state.range(0));
  const std::vector<Block>& all = blocks(sample);
  state.SetLabel(kSampleNames[sample]);
  Bytes out(100'000);
  std::int64_t bytes = 0;
  std::size_t i = 0;
  for (auto _ : state) {
    const Block& block = all[i++ % all.size()];
    if (!decode(block, out)) return state.SkipWithError("not decoded");
    benchmark::DoNotOptimize(out.data());
    bytes += static_cast<std::int64_t>(block.raw.size());
  }
  state.SetBytesProcessed(bytes);
}

void with_zlib(benchmark::State& state) {
  run(state, [](const Block& block, Bytes& out) {
    uLongf size = out.size();
    return uncompress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(block.packed.data()),
                      block.packed.size()) == Z_OK &&
           size == block.raw.size();
  });
}

void with_libdeflate(benchmark::State& state) {
  libdeflate_decompressor* decoder = libdeflate_alloc_decompressor();
  run(state, [decoder](const Block& block, Bytes& out) {
    return libdeflate_zlib_decompress(decoder, block.packed.data(), block.packed.size(), out.data(), block.raw.size(),
                                      nullptr) == LIBDEFLATE_SUCCESS;
  });
  libdeflate_free_decompressor(decoder);
}

void with_isal(benchmark::State& state) {
  run(state, [](const Block& block, Bytes& out) {
    inflate_state decoder;
    isal_inflate_init(&decoder);
    decoder.crc_flag = ISAL_ZLIB;
    decoder.next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(block.packed.data()));
    decoder.avail_in = static_cast<std::uint32_t>(block.packed.size());
    decoder.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    decoder.avail_out = static_cast<std::uint32_t>(out.size());
    return isal_inflate(&decoder) == ISAL_DECOMP_OK && decoder.total_out == block.raw.size();
  });
}
BENCHMARK(with_isal)->DenseRange(kColumn, kSmall);

// As a basket is read: with block header, checks and a new buffer.
void with_decompress(benchmark::State& state) {
  const auto sample = static_cast<Sample>(state.range(0));
  std::vector<Bytes> stored;
  for (const Block& block : blocks(sample)) {
    Bytes bytes{std::byte{'Z'}, std::byte{'L'}, std::byte{8}};
    for (const std::size_t size : {block.packed.size(), block.raw.size()}) {
      for (int shift = 0; shift < 24; shift += 8) bytes.push_back(static_cast<std::byte>(size >> shift));
    }
    bytes.insert(bytes.end(), block.packed.begin(), block.packed.end());
    stored.push_back(std::move(bytes));
  }
  std::size_t i = 0;
  run(state, [&](const Block& block, Bytes&) {
    const auto whole = tfile::decompress(stored[i++ % stored.size()], block.raw.size());
    return whole.has_value();
  });
}

BENCHMARK(with_zlib)->DenseRange(kColumn, kSmall);
BENCHMARK(with_libdeflate)->DenseRange(kColumn, kSmall);
BENCHMARK(with_decompress)->DenseRange(kColumn, kSmall);

}  // namespace

BENCHMARK_MAIN();
