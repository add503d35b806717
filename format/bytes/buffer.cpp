// SPDX-License-Identifier: Apache-2.0
#include "tfile/buffer.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tfile/mutex.h"

// The first read of a column touches every byte of its chunks, and as many bytes again that were fetched. With pages of
// 4 KiB, half of the daemon's time went into page faults (80 MB uncompressed, measured with perf). Therefore, buffers
// of a chunk's size are cut from slabs of huge pages. Larger buffers, which hold fetched bytes, are reused while they
// are still mapped. Those that answers of servers are read into share huge pages: page faults were half of the time
// of reading from a server of the same machine.
//
// A slab is filled from front to back and unmapped as a whole. Chunks that are decoded together are adjacent, and
// mostly leave the cache together. If they do not, and more than kWasteMax of freed buffers would remain, the pages of
// single buffers are released. So the memory of the process beyond its live buffers is bounded by: kWasteMax, the last
// slab, kSparesMax empty slabs, kKeptMax, and the unused rest of each buffer's last page. A process of little memory
// keeps less (Limits). A huge page that is shared stays, until the system is short of memory, as long as one of its
// buffers lives.

namespace tfile {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kPlainMalloc = true;  // sanitizers check malloc
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kPlainMalloc = true;
#else
constexpr bool kPlainMalloc = false;
#endif
#else
constexpr bool kPlainMalloc = false;
#endif

constexpr std::size_t kBlockMin = 16 << 10;  // smaller buffers come from malloc, since they would waste much of a page
constexpr std::size_t kBlockMax = 1 << 20;   // larger buffers get a mapping of their own
constexpr std::size_t kSlabSize = 4 << 20;   // two huge pages
constexpr std::size_t kHugePage = 2 << 20;
constexpr std::size_t kWasteMax = 16 << 20;
constexpr std::size_t kTailMax = 256 << 10;    // a mapping that is reused for less may keep this much more
constexpr std::size_t kKeptMax = 16 << 20;     // large free mappings that are kept for reuse
constexpr std::size_t kSharedMin = 256 << 10;  // mappings of this and more that share a huge page
constexpr std::size_t kSparesMax = 4;          // empty slabs: a scan allocates this many before it frees some

std::byte* map(std::size_t size) {
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(p);
}

// Maps `size` bytes at a multiple of `alignment` (both multiples of the page size), with huge pages requested.
std::byte* map_aligned(std::size_t size, std::size_t alignment) {
  if (size > SIZE_MAX - alignment) throw std::bad_alloc();
  std::byte* all = map(size + alignment);
  const auto address = reinterpret_cast<std::uintptr_t>(all);
  const std::size_t before = (alignment - address % alignment) % alignment;
  if (before > 0) munmap(all, before);
  if (before < alignment) munmap(all + before + size, alignment - before);
  madvise(all + before, size, MADV_HUGEPAGE);  // works without huge pages, too
  return all + before;
}

// Bounds of the freed buffers that are kept, a third in each way.
struct Limits {
  std::size_t waste = kWasteMax, spares = kSparesMax, kept = kKeptMax;

  static Limits of(std::uint64_t all) {
    const std::uint64_t third = all / 3;
    return {std::min<std::uint64_t>(third, kWasteMax), std::min<std::uint64_t>(third / kSlabSize, kSparesMax),
            std::min<std::uint64_t>(third, kKeptMax)};
  }
};

std::size_t whole_pages(std::size_t size) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

// Buffers that are cut from slabs. Of one thread at a time.
class Slabs {
 public:
  // Allocates whole pages.
  std::byte* allocate(std::size_t size) {
    if (!current_ || slabs_.at(current_).used + size > kSlabSize) {
      current_ = fresh();
      slabs_[current_] = {};
    }
    Slab& slab = slabs_.at(current_);
    auto* p = reinterpret_cast<std::byte*>(current_ + slab.used);
    slab.used += size;
    slab.live += size;
    return p;
  }

  void free(std::byte* p, std::size_t size, const Limits& limits) {
    const std::uintptr_t base = reinterpret_cast<std::uintptr_t>(p) / kSlabSize * kSlabSize;
    Slab& slab = slabs_.at(base);
    slab.live -= size;
    if (slab.live == 0) {
      waste_ -= slab.waste;
      release(base, limits.spares);
    } else if (waste_ + size <= limits.waste) {
      slab.waste += size;
      waste_ += size;
    } else {
      madvise(p, size, MADV_DONTNEED);
    }
  }

  void give_back_spares() {
    for (const std::uintptr_t slab : spares_) munmap(reinterpret_cast<void*>(slab), kSlabSize);
    spares_.clear();
  }

 private:
  struct Slab {
    std::size_t used = 0;   // bytes used, from the front
    std::size_t live = 0;   // bytes used and not freed
    std::size_t waste = 0;  // bytes freed whose pages remain
  };

  // Takes the slab that became empty last: its pages are resident, and most likely cached.
  std::uintptr_t fresh() {
    if (spares_.empty()) return reinterpret_cast<std::uintptr_t>(map_aligned(kSlabSize, kSlabSize));
    const std::uintptr_t slab = spares_.back();
    spares_.pop_back();
    return slab;
  }

  // An empty slab is refilled if it is the current one, else kept as a spare or unmapped.
  void release(std::uintptr_t base, std::size_t spares_max) {
    if (base == current_) {
      slabs_[base] = {};
      return;
    }
    slabs_.erase(base);
    try {
      if (spares_.size() < spares_max) return spares_.push_back(base);
    } catch (const std::bad_alloc&) {
    }
    munmap(reinterpret_cast<void*>(base), kSlabSize);
  }

  std::unordered_map<std::uintptr_t, Slab> slabs_;
  std::uintptr_t current_ = 0;
  std::vector<std::uintptr_t> spares_;
  std::size_t waste_ = 0;
};

// Mappings of large buffers that were freed, for reuse. Of one thread at a time.
class FreeMappings {
 public:
  // Null: none of this size.
  std::byte* take(std::size_t size) {
    const auto found = std::ranges::find(kept_, size, &Kept::size);
    if (found == kept_.end()) return nullptr;
    std::byte* const p = found->bytes;
    kept_.erase(found);
    bytes_ -= size;
    return p;
  }

  // False if it is not kept: more than `most` bytes would be.
  bool keep(std::byte* p, std::size_t size, std::size_t most) {
    if (size > most / 2 || bytes_ + size > most) return false;
    kept_.push_back({p, size});
    bytes_ += size;
    return true;
  }

  void give_back() {
    for (const Kept& kept : kept_) munmap(kept.bytes, kept.size);
    kept_.clear();
    bytes_ = 0;
  }

 private:
  struct Kept {
    std::byte* bytes;
    std::size_t size;
  };
  std::vector<Kept> kept_;
  std::size_t bytes_ = 0;
};

class Heap {
 public:
  std::byte* allocate(std::size_t size, Use use) {
    if (size > kBlockMax || use == Use::passing) return allocate_large(size);
    const Lock lock(mutex_);
    return slabs_.allocate(whole_pages(size));
  }
  void free(std::byte* p, std::size_t size, Use use) {
    if (size > kBlockMax || use == Use::passing) return keep_or_unmap(p, large_size(size));
    const Lock lock(mutex_);
    slabs_.free(p, whole_pages(size), limits_);
  }

  void limit(Limits limits) {
    const Lock lock(mutex_);
    limits_ = limits;
  }

  void give_back_free() {
    const Lock lock(mutex_);
    slabs_.give_back_spares();
    mappings_.give_back();
  }

 private:
  // Sizes are powers of two, so that a free mapping fits a later request; sizes that are not kept are whole pages.
  static std::size_t large_size(std::size_t size) {
    return size <= kKeptMax / 2 ? std::bit_ceil(size) : whole_pages(size);
  }

  std::byte* allocate_large(std::size_t size) {
    if (size > SIZE_MAX / 2) throw std::bad_alloc();
    const std::size_t mapped = large_size(size);
    {
      const Lock lock(mutex_);
      if (std::byte* const p = mappings_.take(mapped)) return trimmed(p, size, mapped);
    }
    return mapped >= kSharedMin && mapped < kHugePage
               ? share_huge_page(mapped)
               : map_aligned(mapped, mapped >= kHugePage ? kHugePage : whole_pages(1));
  }

  // The first of the mappings of equal size that share a huge page. The others are kept.
  std::byte* share_huge_page(std::size_t mapped) {
    std::byte* const page = map_aligned(kHugePage, kHugePage);
    for (std::size_t at = mapped; at < kHugePage; at += mapped) keep_or_unmap(page + at, mapped);
    return page;
  }

  // Releases the pages of the previous, larger buffer that this one does not need.
  static std::byte* trimmed(std::byte* p, std::size_t size, std::size_t mapped) {
    if (const std::size_t pages = whole_pages(size); mapped - pages >= kTailMax)
      madvise(p + pages, mapped - pages, MADV_DONTNEED);
    return p;
  }

  // If there is no memory to take note of pages, they are not kept.
  void keep_or_unmap(std::byte* p, std::size_t mapped) noexcept {
    try {
      const Lock lock(mutex_);
      if (mappings_.keep(p, mapped, limits_.kept)) return;
    } catch (const std::bad_alloc&) {
    }
    munmap(p, mapped);
  }

  Mutex mutex_{"Heap::mutex_"};
  Limits limits_ GUARDED_BY(mutex_);
  Slabs slabs_ GUARDED_BY(mutex_);
  FreeMappings mappings_ GUARDED_BY(mutex_);
};

// Never destroyed: buffers may outlive every static object.
Heap& heap() {
  static Heap& only = *new Heap;
  return only;
}

}  // namespace

std::byte* allocate_buffer(std::size_t size, Use use) {
  // No allocator has more memory than this, and a sanitizer would end the process at such a request.
  if (size > std::size_t{PTRDIFF_MAX}) throw std::bad_alloc();
  if (!kPlainMalloc && size >= kBlockMin) return heap().allocate(size, use);
  auto* p = static_cast<std::byte*>(std::malloc(size > 0 ? size : 1));
  if (!p) throw std::bad_alloc();
  return p;
}

void scale_free_buffers(std::uint64_t memory) {
  const std::uint64_t freed = memory / 4;
  if (!kPlainMalloc) heap().limit(Limits::of(freed));
  if (freed / 3 >= kKeptMax) return;
  // Else malloc takes ever larger blocks from its arenas, up to 32 MB, and texts that were freed leave tens of
  // megabytes there.
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
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
