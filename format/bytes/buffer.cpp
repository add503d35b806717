// SPDX-License-Identifier: Apache-2.0
#include "tfile/buffer.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

// A column that is read for the first time touches every byte of its chunks once, and twice as many bytes in all with
// what was fetched: with pages of 4 KiB half of the daemon's time went into page faults (80 MB uncompressed, measured
// with perf). So buffers of a chunk's size are cut from slabs of huge pages, and large ones, which are those of
// fetches, are used again while they are still mapped.
//
// Slabs are filled from front to back and given back whole. Chunks that are decoded together lie together, and mostly
// leave the cache together; where they do not, the pages of single buffers are given back as soon as more than
// kWasteMax of freed ones would stay. So what the process holds beyond its live buffers is bounded: kWasteMax, the last
// slab, kSparesMax of them, kKeptMax, and the rest of each buffer's last page.

namespace tfile {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kPlainMalloc = true;  // sanitizers watch over malloc
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kPlainMalloc = true;
#else
constexpr bool kPlainMalloc = false;
#endif
#else
constexpr bool kPlainMalloc = false;
#endif

constexpr std::size_t kBlockMin = 16 << 10;  // smaller ones are malloc's: a page each would be much of them
constexpr std::size_t kBlockMax = 1 << 20;   // larger ones get a mapping of their own
constexpr std::size_t kSlabSize = 4 << 20;   // two huge pages
constexpr std::size_t kHugePage = 2 << 20;
constexpr std::size_t kWasteMax = 16 << 20;
constexpr std::size_t kTailMax = 256 << 10;  // of a mapping that is used again for less
constexpr std::size_t kKeptMax = 16 << 20;   // large mappings, free, to be used again
constexpr std::size_t kSparesMax = 4;        // empty slabs: what a scan has in flight beyond what it gives back

std::byte* map(std::size_t size) {
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(p);
}

// `size` bytes at a multiple of `alignment`, both multiples of the page, asked for as huge pages.
std::byte* map_aligned(std::size_t size, std::size_t alignment) {
  if (size > SIZE_MAX - alignment) throw std::bad_alloc();
  std::byte* all = map(size + alignment);
  const auto address = reinterpret_cast<std::uintptr_t>(all);
  const std::size_t before = (alignment - address % alignment) % alignment;
  if (before > 0) munmap(all, before);
  if (before < alignment) munmap(all + before + size, alignment - before);
  madvise(all + before, size, MADV_HUGEPAGE);  // where the kernel has none, all works without
  return all + before;
}

class Heap {
 public:
  std::byte* allocate(std::size_t size, Use use) {
    return size > kBlockMax || use == Use::passing ? allocate_large(size) : allocate_block(whole_pages(size));
  }
  void free(std::byte* p, std::size_t size, Use use) {
    if (size > kBlockMax || use == Use::passing)
      free_large(p, size);
    else
      free_block(p, whole_pages(size));
  }

  void give_back_free() {
    const std::lock_guard lock(mutex_);
    for (const std::uintptr_t slab : spares_) munmap(reinterpret_cast<void*>(slab), kSlabSize);
    spares_.clear();
    for (const Kept& kept : kept_) munmap(kept.bytes, kept.size);
    kept_.clear();
    kept_bytes_ = 0;
  }

 private:
  struct Slab {
    std::size_t used = 0;   // from the front
    std::size_t live = 0;   // of that, not yet freed
    std::size_t waste = 0;  // of that, freed, pages still there
  };

  std::size_t whole_pages(std::size_t size) const { return (size + page_ - 1) / page_ * page_; }
  static std::uintptr_t slab_of(const std::byte* p) {
    return reinterpret_cast<std::uintptr_t>(p) / kSlabSize * kSlabSize;
  }

  std::byte* allocate_block(std::size_t size) {
    const std::lock_guard lock(mutex_);
    if (!current_ || slabs_.at(current_).used + size > kSlabSize) {
      current_ = fresh_slab();
      slabs_[current_] = {};
    }
    Slab& slab = slabs_.at(current_);
    auto* p = reinterpret_cast<std::byte*>(current_ + slab.used);
    slab.used += size;
    slab.live += size;
    return p;
  }

  void free_block(std::byte* p, std::size_t size) {
    const std::lock_guard lock(mutex_);
    const std::uintptr_t base = slab_of(p);
    Slab& slab = slabs_.at(base);
    slab.live -= size;
    if (slab.live == 0) {
      waste_ -= slab.waste;
      release(base);
    } else if (waste_ + size <= kWasteMax) {
      slab.waste += size;
      waste_ += size;
    } else {
      madvise(p, size, MADV_DONTNEED);
    }
  }

  // The one that became empty last: its pages are there, and the nearest to the processor.
  std::uintptr_t fresh_slab() {
    if (spares_.empty()) return reinterpret_cast<std::uintptr_t>(map_aligned(kSlabSize, kSlabSize));
    const std::uintptr_t slab = spares_.back();
    spares_.pop_back();
    return slab;
  }

  // An empty slab begins anew, waits as the next one, or goes.
  void release(std::uintptr_t base) {
    if (base == current_) {
      slabs_[base] = {};
      return;
    }
    slabs_.erase(base);
    if (spares_.size() < kSparesMax)
      spares_.push_back(base);
    else
      munmap(reinterpret_cast<void*>(base), kSlabSize);
  }

  // Powers of two, so that what is free fits what is asked for; beyond what is kept, whole pages.
  std::size_t large_size(std::size_t size) const {
    return size <= kKeptMax / 2 ? std::bit_ceil(size) : whole_pages(size);
  }

  std::byte* allocate_large(std::size_t size) {
    if (size > SIZE_MAX / 2) throw std::bad_alloc();
    const std::size_t mapped = large_size(size);
    {
      const std::lock_guard lock(mutex_);
      const auto fits = [&](const Kept& kept) { return kept.size == mapped; };
      if (const auto found = std::find_if(kept_.begin(), kept_.end(), fits); found != kept_.end()) {
        std::byte* p = found->bytes;
        kept_.erase(found);
        kept_bytes_ -= mapped;
        return trimmed(p, size, mapped);
      }
    }
    return map_aligned(mapped, mapped >= kHugePage ? kHugePage : page_);
  }

  // A smaller buffer than the one before does not hold the pages of that.
  std::byte* trimmed(std::byte* p, std::size_t size, std::size_t mapped) const {
    if (const std::size_t pages = whole_pages(size); mapped - pages >= kTailMax)
      madvise(p + pages, mapped - pages, MADV_DONTNEED);
    return p;
  }

  void free_large(std::byte* p, std::size_t size) {
    const std::size_t mapped = large_size(size);
    {
      const std::lock_guard lock(mutex_);
      if (mapped <= kKeptMax / 2 && kept_bytes_ + mapped <= kKeptMax) {
        kept_.push_back({p, mapped});
        kept_bytes_ += mapped;
        return;
      }
    }
    munmap(p, mapped);
  }

  struct Kept {
    std::byte* bytes;
    std::size_t size;
  };
  const std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, Slab> slabs_;
  std::uintptr_t current_ = 0;
  std::vector<std::uintptr_t> spares_;
  std::size_t waste_ = 0;
  std::vector<Kept> kept_;
  std::size_t kept_bytes_ = 0;
};

// Never destroyed: buffers may outlive every static object.
Heap& heap() {
  static Heap& only = *new Heap;
  return only;
}

}  // namespace

std::byte* allocate_buffer(std::size_t size, Use use) {
  // No allocator has more; sanitizers end the process for the asking.
  if (size > std::size_t{PTRDIFF_MAX}) throw std::bad_alloc();
  if (!kPlainMalloc && size >= kBlockMin) return heap().allocate(size, use);
  auto* p = static_cast<std::byte*>(std::malloc(size > 0 ? size : 1));
  if (!p) throw std::bad_alloc();
  return p;
}

void give_back_free_buffers() {
  if (!kPlainMalloc) heap().give_back_free();
  malloc_trim(0);
}

void free_buffer(std::byte* p, std::size_t size, Use use) {
  if (!kPlainMalloc && size >= kBlockMin)
    heap().free(p, size, use);
  else
    std::free(p);
}

}  // namespace tfile
