// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace tfile {

// What a value takes on the heap beside itself. What the allocator adds to a block, about:
inline constexpr std::size_t kBlockOverhead = 16;

// A block of this size as glibc's malloc cuts it: 8 bytes more, in steps of 16, 32 at least.
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
