// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace tfile {

// An array of bytes that grows at its end and becomes a Buffer without a copy.
class ArrayBuilder {
 public:
  ArrayBuilder() = default;
  ArrayBuilder(ArrayBuilder&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  ArrayBuilder& operator=(ArrayBuilder&&) = delete;
  ~ArrayBuilder() { std::free(data_); }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }

  // Empties the array and keeps its memory.
  void clear() { size_ = 0; }
  // Empties the array and frees its memory.
  void release() {
    std::free(std::exchange(data_, nullptr));
    size_ = capacity_ = 0;
  }

  // Makes room for `size` more bytes at the end, which the caller fills.
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

// Arrays that a thread uses again for the next chunk. New arrays for every chunk would mean thousands of calls to an
// allocator shared with other threads, and pages that the system clears each time.
class GrowingArrays {
 public:
  explicit GrowingArrays(std::size_t count) : arrays_(std::exchange(kept(), {})) {
    if (arrays_.size() < count) arrays_.resize(count);
  }
  ~GrowingArrays() {
    std::size_t room = kKeptMax;
    for (ArrayBuilder& array : arrays_) {
      array.clear();
      if (array.capacity() > room) array.release();
      room -= array.capacity();
    }
    kept() = std::move(arrays_);
  }
  GrowingArrays(const GrowingArrays&) = delete;
  GrowingArrays& operator=(const GrowingArrays&) = delete;

  std::vector<ArrayBuilder>& all() { return arrays_; }

 private:
  static constexpr std::size_t kKeptMax = 1 << 20;  // per thread: many times the usual size of a basket
  static std::vector<ArrayBuilder>& kept() {
    thread_local std::vector<ArrayBuilder> arrays;
    return arrays;
  }
  std::vector<ArrayBuilder> arrays_;
};

}  // namespace tfile
