// SPDX-License-Identifier: Apache-2.0
// What ISA-L's first level makes of pages of RNTuples, and how fast, if 1, 4, 16 or 64 thousand symbols share a code:
// bytes as multiples of those of zlib's first level, and MB/s on one core, in the median of nine rounds.
//
//   deflate_blocks BYTES COLUMN.f4|COLUMN.i4...      BYTES: of a page
//
// A page has the first bytes of all numbers, then the second ones, and so on; integers have their sign last.

#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::size_t kColumnMax = 8 << 20;

std::uint32_t sign_last(std::uint32_t number) { return (number << 1) ^ (number >> 31 ? ~0u : 0u); }

std::vector<Bytes> pages_of(const std::string& path, std::size_t page_size) {
  std::ifstream file(path, std::ios::binary);
  Bytes column((std::istreambuf_iterator<char>(file)), {});
  column.resize(std::min(column.size(), kColumnMax));
  const bool integers = path.ends_with(".i4");
  std::vector<Bytes> pages;
  for (std::size_t begin = 0; begin < column.size(); begin += page_size) {
    const std::size_t count = std::min(page_size, column.size() - begin) / 4;
    Bytes page(4 * count);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t number = 0;
      std::memcpy(&number, &column[begin + 4 * i], 4);
      if (integers) number = sign_last(number);
      for (std::size_t j = 0; j < 4; ++j) page[j * count + i] = static_cast<std::uint8_t>(number >> (8 * j));
    }
    pages.push_back(std::move(page));
  }
  return pages;
}

std::size_t size_with_zlib(const Bytes& page) {
  uLongf size = compressBound(page.size());
  Bytes packed(size);
  compress2(packed.data(), &size, page.data(), page.size(), 1);
  return std::min<std::size_t>(size, page.size());
}

std::size_t size_with_isal(const Bytes& page, Bytes& memory, Bytes& into) {
  static isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.level = 1;
  stream.level_buf = memory.data();
  stream.level_buf_size = static_cast<std::uint32_t>(memory.size());
  stream.end_of_stream = 1;
  stream.next_in = const_cast<std::uint8_t*>(page.data());
  stream.avail_in = static_cast<std::uint32_t>(page.size());
  stream.next_out = into.data();
  stream.avail_out = static_cast<std::uint32_t>(into.size());
  return isal_deflate_stateless(&stream) == COMP_OK ? std::min<std::size_t>(stream.total_out, page.size())
                                                    : page.size();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto page_size = static_cast<std::size_t>(std::atoll(argv[1]));
  Bytes into(2 * page_size + 1024);
  for (int i = 2; i < argc; ++i) {
    const std::vector<Bytes> pages = pages_of(argv[i], page_size);
    double bytes = 0, reference = 0;
    for (const Bytes& page : pages) bytes += static_cast<double>(page.size());
    for (const Bytes& page : pages) reference += static_cast<double>(size_with_zlib(page));
    std::printf("%s:", argv[i]);
    for (const std::size_t thousands : {1, 4, 16, 64}) {
      Bytes memory(ISAL_DEF_LVL1_REQ + ISAL_DEF_LVL1_TOKEN_SIZE * thousands * 1024);
      double size = 0;
      std::array<double, 9> seconds;
      for (double& round : seconds) {
        size = 0;
        const auto begin = std::chrono::steady_clock::now();
        for (const Bytes& page : pages) size += static_cast<double>(size_with_isal(page, memory, into));
        round = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      }
      std::ranges::sort(seconds);
      std::printf("  %zu k %.2f (%.0f)", thousands, size / reference, bytes / seconds[seconds.size() / 2] / 1e6);
    }
    std::printf("\n");
  }
  return 0;
}
