// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "tfile/chunk.h"

namespace tfile {

// An array of bytes that grows at its end and is handed over as a Buffer without a copy.
class ArrayBuilder {
 public:
  ArrayBuilder() = default;
  ArrayBuilder(ArrayBuilder&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  ArrayBuilder& operator=(ArrayBuilder&&) = delete;
  ~ArrayBuilder() { std::free(data_); }

  std::size_t size() const { return size_; }
  std::byte* data() { return data_; }

  // Room for `size` more bytes at the end; the caller fills them.
  std::byte* extend(std::size_t size) {
    if (size > capacity_ - size_) grow(size);
    std::byte* place = data_ + size_;
    size_ += size;
    return place;
  }
  void append(std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
  }
  template <class T>
  void push(T value) {
    std::memcpy(extend(sizeof value), &value, sizeof value);
  }
  Buffer take() {
    if (std::byte* fitted = static_cast<std::byte*>(std::realloc(data_, std::max<std::size_t>(size_, 1)))) data_ = fitted;
    Buffer buffer(std::exchange(data_, nullptr), std::exchange(size_, 0));
    capacity_ = 0;
    return buffer;
  }

 private:
  void grow(std::size_t more) {
    const std::size_t wanted = std::max({size_ + more, capacity_ * 2, std::size_t{256}});
    auto* bigger = static_cast<std::byte*>(std::realloc(data_, wanted));
    if (!bigger) throw std::bad_alloc();
    data_ = bigger;
    capacity_ = wanted;
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace tfile
