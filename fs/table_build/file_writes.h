// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "reply.h"
#include "tfile/buffer.h"

namespace tfilefs {

// Gathers writes to one file, most of which adjoin, into large ones. Used by one thread; blocks. Written bytes are not
// on disk before a sync, but on their way.
class FileWrites {
 public:
  explicit FileWrites(int fd) : fd_(fd) {}
  Result<> write(std::uint64_t offset, tfile::Buffer);
  Result<> flush();

 private:
  const int fd_;
  std::uint64_t offset_ = 0, size_ = 0;  // of gathered_, in total
  std::vector<tfile::Buffer> gathered_;
};

}  // namespace tfilefs
