// SPDX-License-Identifier: Apache-2.0
// Decodes pages of RNTuples to arrays, for each kind of stored element, and compares with a copy. Each has 256 KB of
// output, which stay in the second-level cache; bytes are those of the output. Both sides begin at a memory page: if
// they are 16 bytes apart in a page, some processors copy (rep movsb) at a fifteenth of their speed.
#include "ntuple/page_decode.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <iterator>
#include <random>
#include <span>

namespace {

using tfile::ColumnType;
using tfile::Dtype;

constexpr std::size_t kBytes = 256 << 10;
alignas(4096) std::byte stored[2 * kBytes], decoded[kBytes];

struct Case {
  const char* name;
  ColumnType type;
  std::uint16_t bits;
  Dtype dtype;  // of the field
};

constexpr Case kCases[] = {
    {"plain, 4 bytes", ColumnType::real32, 32, Dtype::f4},
    {"split, 2 bytes", ColumnType::split_uint16, 16, Dtype::u2},
    {"split, 4 bytes", ColumnType::split_real32, 32, Dtype::f4},
    {"split, 8 bytes", ColumnType::split_real64, 64, Dtype::f8},
    {"split and zigzag, 2 bytes", ColumnType::split_int16, 16, Dtype::i2},
    {"split and zigzag, 4 bytes", ColumnType::split_int32, 32, Dtype::i4},
    {"split and zigzag, 8 bytes", ColumnType::split_int64, 64, Dtype::i8},
    {"index, 4 bytes", ColumnType::index32, 32, Dtype::i8},
    {"index, 8 bytes", ColumnType::index64, 64, Dtype::i8},
    {"split and delta index, 4 bytes", ColumnType::split_index32, 32, Dtype::i8},
    {"split and delta index, 8 bytes", ColumnType::split_index64, 64, Dtype::i8},
    {"half precision", ColumnType::real16, 16, Dtype::f4},
    {"split half precision", ColumnType::split_real16, 16, Dtype::f4},
    {"half precision of a double", ColumnType::real16, 16, Dtype::f8},
    {"truncated to 16 bits", ColumnType::real32_trunc, 16, Dtype::f4},
    {"truncated to 21 bits", ColumnType::real32_trunc, 21, Dtype::f4},
    {"quantised to 12 bits, float", ColumnType::real32_quant, 12, Dtype::f4},
    {"quantised to 12 bits, double", ColumnType::real32_quant, 12, Dtype::f8},
    {"bit", ColumnType::bit, 1, Dtype::b1},
};

bool is_split(ColumnType type) { return type >= ColumnType::split_int16 && type <= ColumnType::split_index64; }

// Random elements; for an index, ends of short lists; normal numbers of half precision.
std::span<const std::byte> page_of(const tfile::PageEncoding& encoding, std::size_t elements) {
  std::mt19937_64 random(1);
  const auto page = std::span(stored).first(tfile::page_size(encoding, elements));
  if (encoding.bits % 8 != 0 || encoding.type == ColumnType::real32_trunc) {
    for (std::byte& b : page) b = static_cast<std::byte>(random());
    return page;
  }
  const std::size_t size = encoding.bits / 8;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    std::uint64_t value = random();
    if (tfile::is_index(encoding)) {
      end += value % 8;
      value = is_split(encoding.type) ? value % 8 : end;
    } else if (encoding.type == ColumnType::real16 || encoding.type == ColumnType::split_real16) {
      value = (value & 0x9FFF) | 0x2000;
    }
    for (std::size_t byte = 0; byte < size; ++byte)
      page[is_split(encoding.type) ? byte * elements + i : i * size + byte] =
          static_cast<std::byte>(value >> (8 * byte));
  }
  return page;
}

template <class Decode>
void run(benchmark::State& state, std::size_t out_bytes, Decode decode) {
  const auto out = std::span(decoded).first(out_bytes);
  for (auto _ : state) {
    if (!decode(out)) return state.SkipWithError("not decoded");
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out_bytes));
}

void copy(benchmark::State& state) {
  std::memset(stored, 1, kBytes);
  run(state, kBytes, [](std::span<std::byte> out) { return std::memcpy(out.data(), stored, kBytes) != nullptr; });
}
BENCHMARK(copy);

void page(benchmark::State& state) {
  const Case& one = kCases[state.range(0)];
  state.SetLabel(one.name);
  const tfile::PageEncoding encoding{one.type, one.bits, -1, 1};
  const std::size_t elements = kBytes / tfile::size_of(one.dtype);
  const auto from = page_of(encoding, elements);
  run(state, kBytes, [&](std::span<std::byte> out) {
    return tfile::is_index(encoding) ? tfile::decode_ends(encoding, from, elements, 0, out).has_value()
                                     : tfile::decode_numbers(encoding, from, elements, one.dtype, out).has_value();
  });
}
BENCHMARK(page)->DenseRange(0, std::size(kCases) - 1);

// A variant of three alternatives: tags and positions.
void switches(benchmark::State& state) {
  constexpr std::size_t kStored = 12, kDecoded = 9;
  const std::size_t elements = kBytes / kDecoded;
  const auto from = std::span(stored).first(elements * kStored);
  std::mt19937 random(1);
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint64_t position = i;
    const auto tag = static_cast<std::uint32_t>(random() % 4);
    std::memcpy(from.data() + i * kStored, &position, sizeof position);
    std::memcpy(from.data() + i * kStored + sizeof position, &tag, sizeof tag);
  }
  const std::int64_t bases[] = {0, 10, 20};
  run(state, elements * kDecoded, [&](std::span<std::byte> out) {
    return tfile::decode_switch(from, elements, bases, out.first(elements), out.subspan(elements)).has_value();
  });
}
BENCHMARK(switches);

}  // namespace

BENCHMARK_MAIN();
