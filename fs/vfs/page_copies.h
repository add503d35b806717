// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "mutex.h"
#include "vfs/inode_table.h"
#include "vfs/open_files.h"

namespace tfilefs {

// Keeps pages of files that programs map and lock, as the kernel got or wrote them last. The kernel writes a page as a
// whole of which a program has changed some bytes through a mapping; others of its bytes may have been changed
// meanwhile by another mount, or beside the mounts, under a lock of their own. What differs from the copy is what was
// changed here. Pages beyond a limit have no copy. Thread-safe; nothing blocks.
class PageCopies {
 public:
  // The place in the bytes that are written.
  struct Piece {
    std::size_t begin = 0, size = 0;
  };

  // A lock is set through the handle. Pages of the file that the kernel gets from now on have copies, until it has
  // given back all such handles.
  void watch(InodeId, HandleId) EXCLUDES(mutex_);
  void release(HandleId) EXCLUDES(mutex_);
  // Whether there is no such file. Takes no lock.
  bool is_idle() const { return files_.load(std::memory_order_relaxed) == 0; }

  // The kernel gets these bytes, from the beginning of a page.
  void note_read(InodeId, std::uint64_t offset, std::span<const std::span<const std::byte>> bytes) EXCLUDES(mutex_);
  // The kernel writes these, from the beginning of a page: what of them is to be written, by address.
  std::vector<Piece> note_write(InodeId, std::uint64_t offset, std::span<const std::byte> bytes) EXCLUDES(mutex_);
  // A program writes these with write(2), which changes the kernel's pages as well; with O_APPEND, where only the file
  // system knows; or sets the size.
  void note_own_write(InodeId, std::uint64_t offset, std::span<const std::byte> bytes) EXCLUDES(mutex_);
  void note_append(InodeId, std::uint64_t offset) EXCLUDES(mutex_);
  void note_size(InodeId, std::uint64_t size) EXCLUDES(mutex_);

 private:
  static constexpr std::size_t kPage = 4096;  // those of the kernel are as large, or some of them
  static constexpr std::size_t kPagesMax = 4096;
  using Page = std::array<std::byte, kPage>;
  struct Watched {
    std::set<HandleId> handles;
    std::map<std::uint64_t, std::unique_ptr<Page>> pages;  // by offset
  };
  Watched* find(InodeId) REQUIRES(mutex_);  // nullptr: it is not watched
  Page* copy_at(Watched&, std::uint64_t offset) REQUIRES(mutex_);
  void drop_from(Watched&, std::uint64_t offset) REQUIRES(mutex_);

  std::atomic<std::size_t> files_ = 0;
  Mutex mutex_{"PageCopies::mutex_"};
  std::map<InodeId, Watched> watched_ GUARDED_BY(mutex_);
  std::size_t pages_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfilefs
