// SPDX-License-Identifier: Apache-2.0
#include "bytes/swap.h"

#include "bytes/swap_loop.h"
#include "tfile/build_info.h"

namespace tfile {

#if defined(__x86_64__)
void swap_avx2(const std::byte* from, std::byte* to, std::size_t size, std::size_t item_size);
#endif

namespace {

using SwapFunction = void (*)(const std::byte*, std::byte*, std::size_t, std::size_t);

void swap_plain(const std::byte* from, std::byte* to, std::size_t size, std::size_t item_size) {
  swap_any(from, to, size, item_size);
}

// Plain x86-64 has no byte shuffle and is 2 to 6 times slower (bench/decode). The choice is made at run time and not by
// ifunc, whose resolvers run before the runtime of a sanitizer is ready.
SwapFunction pick() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return swap_avx2;
#endif
  return swap_plain;
}

const SwapFunction kSwap = pick();

}  // namespace

std::string vector_path() { return kSwap == swap_plain ? "baseline" : "avx2"; }

void swap_items(std::span<std::byte> items, std::size_t item_size) {
  kSwap(items.data(), items.data(), items.size(), item_size);
}

void swap_items(std::span<const std::byte> from, std::byte* to, std::size_t item_size) {
  kSwap(from.data(), to, from.size(), item_size);
}

}  // namespace tfile
