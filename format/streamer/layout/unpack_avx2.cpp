// SPDX-License-Identifier: Apache-2.0
// Compiled with -mavx2 -O3 (format/CMakeLists.txt): the compiler turns the loops into vectors.
#include "streamer/layout/unpack_loop.h"

namespace tfile {

void unpack_avx2(const Packing& packing, const std::byte* from, std::byte* to, std::size_t count);
void unpack_avx2(const Packing& packing, const std::byte* from, std::byte* to, std::size_t count) {
  unpack_any(packing, from, to, count);
}

}  // namespace tfile
