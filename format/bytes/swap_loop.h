// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "bytes/endian.h"

namespace tfile {
namespace {  // compiled once per instruction set; a single linked copy would mix them

template <class T>
inline void swap_loop(const std::byte* from, std::byte* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    value = byte_swap(value);
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
}

inline void swap_any(const std::byte* from, std::byte* to, std::size_t size, std::size_t item_size) {
  switch (item_size) {
    case 2:
      return swap_loop<std::uint16_t>(from, to, size / 2);
    case 4:
      return swap_loop<std::uint32_t>(from, to, size / 4);
    case 8:
      return swap_loop<std::uint64_t>(from, to, size / 8);
    default:
      if (from != to) std::memcpy(to, from, size);
  }
}

}  // namespace
}  // namespace tfile
