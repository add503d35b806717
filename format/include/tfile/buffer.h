// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

namespace tfile {

// `kept`: the arrays of a chunk. `passing`: a buffer that is freed again soon.
enum class Use : unsigned char { kept, passing };

// Allocates at least `size` bytes, uninitialised, aligned to 64 bytes if the size is a page or more. Throws bad_alloc.
// Callable from any thread. Freed memory returns to the system, except for a fixed few megabytes (buffer.cpp).
std::byte* allocate_buffer(std::size_t size, Use);
void free_buffer(std::byte*, std::size_t size, Use);
// If buffers take `memory` bytes together, freed ones take at most a quarter of it, and a slab (buffer.cpp).
// Callable from any thread.
void scale_free_buffers(std::uint64_t memory);
// Returns the memory that is kept for reuse to the system at once. Callable from any thread.
void give_back_free_buffers();

// A block of memory whose bytes start out uninitialised (a vector would first set them to zero).
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size, Use use = Use::kept)
      : bytes_(allocate_buffer(size, use), Free{size, use, false}), size_(size) {}
  // Takes ownership of memory from malloc.
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
