// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

namespace tfile {

// Memory for buffers of chunks: at least `size` bytes, undefined, aligned to 64 where it is a page or more. Throws
// bad_alloc. From any thread. What is freed goes back to the system, but for a fixed few megabytes (buffer.cpp).
enum class Use : unsigned char { kept, passing };  // a chunk's, or soon freed again
std::byte* allocate_buffer(std::size_t size, Use);
void free_buffer(std::byte*, std::size_t size, Use);
// What is kept to be used again goes back to the system now. From any thread.
void give_back_free_buffers();

// Memory whose bytes start out undefined (a vector would zero them first).
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size, Use use = Use::kept)
      : bytes_(allocate_buffer(size, use), Free{size, use, false}), size_(size) {}
  // Takes over memory from malloc.
  Buffer(std::byte* malloced, std::size_t size) : bytes_(malloced, Free{size, Use::kept, true}), size_(size) {}
  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  std::span<std::byte> span() { return {bytes_.get(), size_}; }
  std::span<const std::byte> span() const { return {bytes_.get(), size_}; }

 private:
  struct Free {
    std::size_t size;
    Use use;
    bool malloced;
    void operator()(std::byte* p) const {
      if (malloced)
        std::free(p);
      else
        free_buffer(p, size, use);
    }
  };
  std::unique_ptr<std::byte, Free> bytes_;
  std::size_t size_ = 0;
};

}  // namespace tfile
