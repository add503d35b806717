// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace tfile {

// Estimates of the heap memory that a value owns. The allocator adds about this much to each block:
inline constexpr std::size_t kBlockOverhead = 16;

// The size of a block as glibc's malloc allocates it: 8 bytes more, in steps of 16, at least 32.
inline std::size_t heap_block(std::size_t size) {
  return size == 0 ? 0 : std::max<std::size_t>(32, (size + 8 + 15) / 16 * 16);
}

inline std::size_t heap_of(const std::string& text) {
  return text.capacity() < sizeof(std::string) / 2 ? 0 : heap_block(text.capacity() + 1);
}

template <class T>
std::size_t heap_of_elements(const std::vector<T>& vector) {
  return heap_block(vector.capacity() * sizeof(T));
}

inline std::size_t heap_of(const std::vector<std::string>& texts) {
  std::size_t bytes = heap_of_elements(texts);
  for (const std::string& text : texts) bytes += heap_of(text);
  return bytes;
}

}  // namespace tfile
