// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "vfs/file_system.h"

namespace tfilefs {

// An inode that was looked up, until this goes.
class HeldInode {
 public:
  HeldInode() = default;
  HeldInode(FileSystem& fs, FileSystem::Found found) : fs_(&fs), found_(found) {}
  HeldInode(HeldInode&& other) noexcept : fs_(std::exchange(other.fs_, nullptr)), found_(other.found_) {}
  HeldInode& operator=(HeldInode&& other) noexcept {
    std::swap(fs_, other.fs_);
    std::swap(found_, other.found_);
    return *this;
  }
  ~HeldInode() {
    if (fs_ && found_.id != kRootId) fs_->forget(found_.id, 1);
  }
  InodeId id() const { return found_.id; }
  const Attributes& attributes() const { return found_.attributes; }

 private:
  FileSystem* fs_ = nullptr;
  FileSystem::Found found_;
};

// A file or directory that was opened, until this goes.
class HeldHandle {
 public:
  HeldHandle() = default;
  HeldHandle(FileSystem& fs, HandleId handle) : fs_(&fs), handle_(handle) {}
  HeldHandle(HeldHandle&& other) noexcept : fs_(std::exchange(other.fs_, nullptr)), handle_(other.handle_) {}
  HeldHandle& operator=(HeldHandle&& other) noexcept {
    std::swap(fs_, other.fs_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~HeldHandle() {
    if (fs_) fs_->release(handle_);
  }
  HandleId id() const { return handle_; }

 private:
  FileSystem* fs_ = nullptr;
  HandleId handle_ = 0;
};

}  // namespace tfilefs
