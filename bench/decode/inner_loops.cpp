// SPDX-License-Identifier: Apache-2.0
// The inner loops of decoding as the library runs them (vectorised if the processor allows it), compared with plain
// loops over numbers: byte order, packed numbers, ends of lists, members of adjacent items. Each has 256 KB, which stay
// in the second-level cache as a basket does.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <vector>

#include "bytes/swap.h"
#include "bytes/swap_loop.h"
#include "streamer/layout/packing.h"
#include "streamer/layout/unpack_loop.h"
#include "tree/read/item_ends.h"

namespace {

constexpr std::size_t kBytes = 256 << 10;

std::vector<std::byte> random_bytes() {
  std::minstd_rand random(1);
  std::vector<std::byte> bytes(kBytes);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random() >> 8);
  return bytes;
}

template <class Loop>
void run(benchmark::State& state, std::size_t out_bytes, Loop&& loop) {
  const auto from = random_bytes();
  std::vector<std::byte> to(out_bytes);
  for (auto _ : state) {
    loop(from, to.data());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out_bytes));
}

void byte_order(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  run(state, kBytes, [&](std::span<const std::byte> from, std::byte* to) { tfile::swap_items(from, to, size); });
}
void byte_order_scalar(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  run(state, kBytes,
      [&](std::span<const std::byte> from, std::byte* to) { tfile::swap_any(from.data(), to, from.size(), size); });
}
BENCHMARK(byte_order)->Arg(2)->Arg(4)->Arg(8);
BENCHMARK(byte_order_scalar)->Arg(2)->Arg(4)->Arg(8);

const char* const kTitles[] = {"", "[0,0,7]", "[0,1000,20]"};
const char* const kForms[] = {"float", "truncated", "ranged"};

template <class Unpack>
void run_unpack(benchmark::State& state, Unpack&& unpack) {
  const auto form = static_cast<std::size_t>(state.range(0));
  state.SetLabel(kForms[form]);
  const tfile::Packing packing = tfile::parse_packing(kTitles[form], true);
  const std::size_t count = kBytes / packing.stored_size();
  run(state, count * sizeof(double),
      [&](std::span<const std::byte> from, std::byte* to) { unpack(packing, from, count, to); });
}
void packed_doubles(benchmark::State& state) {
  run_unpack(state, [](const tfile::Packing& packing, std::span<const std::byte> from, std::size_t, std::byte* to) {
    tfile::unpack(packing, from, to);
  });
}
void packed_doubles_scalar(benchmark::State& state) {
  run_unpack(state,
             [](const tfile::Packing& packing, std::span<const std::byte> from, std::size_t count, std::byte* to) {
               for (std::size_t i = 0; i < count; ++i)
                 tfile::unpack_any(packing, from.data() + i * packing.stored_size(), to + 8 * i, 1);
             });
}
BENCHMARK(packed_doubles)->DenseRange(0, 2);
BENCHMARK(packed_doubles_scalar)->DenseRange(0, 2);

std::vector<std::int32_t> byte_ends(std::int32_t item_size) {
  std::minstd_rand random(1);
  std::vector<std::int32_t> ends;
  for (std::int32_t end = 0; ends.size() < kBytes / sizeof(std::int64_t);)
    ends.push_back(end += item_size * static_cast<std::int32_t>(random() % 5));
  return ends;
}
void list_ends(benchmark::State& state) {
  const auto from = byte_ends(static_cast<std::int32_t>(state.range(0)));
  run(state, from.size() * sizeof(std::int64_t), [&](std::span<const std::byte>, std::byte* to) {
    tfile::item_ends(from, static_cast<std::int32_t>(state.range(0)), 0, reinterpret_cast<std::int64_t*>(to));
  });
}
void list_ends_scalar(benchmark::State& state) {
  const auto item_size = static_cast<std::int32_t>(state.range(0));
  const auto from = byte_ends(item_size);
  run(state, from.size() * sizeof(std::int64_t), [&](std::span<const std::byte>, std::byte* to) {
    auto* ends = reinterpret_cast<std::int64_t*>(to);
    for (const std::int32_t end : from) {
      if (end % item_size != 0) return;
      *ends++ = end / item_size;
    }
  });
}
BENCHMARK(list_ends)->Arg(4)->Arg(12);
BENCHMARK(list_ends_scalar)->Arg(4)->Arg(12);

}  // namespace

BENCHMARK_MAIN();
