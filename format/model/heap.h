// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tfile {

// What a value takes on the heap beside itself: an estimate, with what the allocator adds to each block.
inline constexpr std::size_t kBlockOverhead = 16;

inline std::size_t heap_of(const std::string& text) {
  return text.capacity() < sizeof(std::string) / 2 ? 0 : text.capacity() + 1 + kBlockOverhead;
}

template <class T>
std::size_t heap_of_elements(const std::vector<T>& vector) {
  return vector.capacity() == 0 ? 0 : vector.capacity() * sizeof(T) + kBlockOverhead;
}

inline std::size_t heap_of(const std::vector<std::string>& texts) {
  std::size_t bytes = heap_of_elements(texts);
  for (const std::string& text : texts) bytes += heap_of(text);
  return bytes;
}

}  // namespace tfile
