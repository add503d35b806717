// SPDX-License-Identifier: Apache-2.0
// Compiled with -mavx2 -O3 (format/CMakeLists.txt): the compiler turns the loop into byte shuffles.
#include "bytes/swap_loop.h"

namespace tfile {

void swap_avx2(const std::byte* from, std::byte* to, std::size_t size, std::size_t item_size);
void swap_avx2(const std::byte* from, std::byte* to, std::size_t size, std::size_t item_size) {
  swap_any(from, to, size, item_size);
}

}  // namespace tfile
